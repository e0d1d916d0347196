import { neutralise } from './neutralise.ts';

/** Every action of a request often says the same; more than a few different texts at once are not worth keeping. */
const MAX_TEXTS = 4;

/** Remembers the texts that were neutralised last, so that a text which many actions share is worked through once. */
export class NeutralisedTexts {
  readonly #texts = new Map<string, string>();

  neutralise(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const [oldest] = this.#texts.keys();
    if (this.#texts.size >= MAX_TEXTS && oldest !== undefined) this.#texts.delete(oldest);
    const neutralised = neutralise(text);
    this.#texts.set(text, neutralised);
    return neutralised;
  }
}
