/** Where the OpenAI-compatible provider is found. Null: not told. */
export interface ModelSettings {
  /** Such as `https://api.openai.com/v1`. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** How long one answer may take in all, in milliseconds. */
  readonly timeoutMs: number;
}
