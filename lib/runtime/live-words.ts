const AT_MOST_EVERY_MS = 250;

/**
 * Shows a growing text at most four times a second. What was said in between is in the next one; the last of it may not be shown,
 * because the committed message follows.
 */
export class LiveWords {
  private text = "";
  private shownAt = Number.NEGATIVE_INFINITY;
  private showing: Promise<void> = Promise.resolve();

  constructor(
    private readonly show: (text: string) => Promise<void>,
    /** Milliseconds of any steady clock. */
    private readonly now: () => number,
  ) {}

  add(delta: string): void {
    this.text += delta;
    const now = this.now();
    if (now - this.shownAt < AT_MOST_EVERY_MS) return;
    this.shownAt = now;
    const { text } = this;
    this.showing = this.showing.then(() => this.show(text));
  }

  /** Nothing is shown after this, so that no late text stands beside the committed one. */
  async settled(): Promise<void> {
    await this.showing;
  }
}
