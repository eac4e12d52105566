import { ASK_TOOL } from "@/lib/protocol/signal";
import type { ModelTool } from "@/lib/runtime/model/model";

/** How a model that calls tools asks a person. */
export const ASKING: ModelTool = {
  name: ASK_TOOL,
  description: "Ask a person and wait for the answer. Call it alone, without other tools.",
  inputSchema: {
    type: "object",
    properties: {
      question: { type: "string" },
      schema: { type: "object", description: "JSON Schema of the answer, where it is more than text." },
      options: { type: "array", items: { type: "string" } },
    },
    required: ["question"],
  },
};
