import { RECORDED } from "@/lib/protocol/gateway-actions";
import { ok, type Result, refuse } from "@/lib/result";
import type { Recording } from "../recording";
import type { Model, ModelFailure } from "./model";
import { openAiModel } from "./openai";
import { recordedModel } from "./recorded";
import { type Script, scriptedModel } from "./scripted";
import type { ModelSettings } from "./settings";

/** What models are made of here. */
export interface ModelEnvironment {
  readonly settings: ModelSettings;
  /** By the word behind `scripted:`. */
  readonly scripts: Readonly<Record<string, Script>>;
  /** The run's own recording, where it has one. */
  readonly recording: Recording | null;
}

/** The model that a snapshot names: `openai`, `scripted:<name>` or `recording`. What is not to be had is a refusal in words. */
export function modelFor(provider: string | null, environment: ModelEnvironment): Result<Model, ModelFailure> {
  if (provider === "openai") return openAiModel(environment.settings);
  if (provider === RECORDED) {
    const { recording } = environment;
    return recording ? ok(recordedModel(recording)) : missing("this run has no recording");
  }
  const [, name = null] = /^scripted:(.+)$/.exec(provider ?? "") ?? [];
  if (name !== null) {
    const script = Object.hasOwn(environment.scripts, name) ? environment.scripts[name] : undefined;
    return script ? ok(scriptedModel(script)) : missing(`no script is named ${name}`);
  }
  return missing(`no provider is named ${provider ?? "nothing"}: openai, scripted:<name> and recording are known`);
}

function missing(detail: string) {
  return refuse({ code: "model_not_configured", detail, retryInMs: null } as const);
}
