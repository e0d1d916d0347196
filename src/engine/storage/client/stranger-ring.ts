import { MAX_STRANGERS } from '../statements/journal.ts';
import type { DecisionRecord } from '../records.ts';

/** Requests of one sender that were refused alike and are kept: a burst of them must not push out those of others. */
const MAX_ALIKE = 10;

interface Gathered {
  readonly decision: DecisionRecord;
  /** Who was refused, and why. */
  readonly like: string;
  readonly order: number;
}

/** What is to be written: the new ones, the oldest first, and the ids of older ones that give their place to them. */
interface NewStrangers {
  readonly decisions: readonly DecisionRecord[];
  readonly forgotten: readonly string[];
}

/** Requests of strangers between two writes. Adding one takes the same time however many there are. */
export class StrangerRing {
  /** By who and why; what came last stands last. */
  readonly #gathered = new Map<string, Gathered[]>();
  /** What this process wrote and the store still holds, the oldest first. */
  #written: readonly { readonly like: string; readonly id: string }[] = [];
  #order = 0;

  /** `sender` is the network that it came from. */
  add(decision: DecisionRecord, sender: string): void {
    const { path, code, refusal } = decision;
    const like = [sender, path, code, refusal?.scheme, refusal?.code].join('\n');
    const alike = this.#gathered.get(like) ?? [];
    this.#gathered.delete(like);
    this.#gathered.set(like, alike);
    alike.push({ decision, like, order: (this.#order += 1) });
    if (alike.length > MAX_ALIKE) alike.shift();
    if (this.#gathered.size <= MAX_STRANGERS) return;
    const [oldest = like] = this.#gathered.keys();
    this.#gathered.delete(oldest);
  }

  /** Takes what has gathered. */
  take(): NewStrangers {
    const gathered = [...this.#gathered.values()]
      .flat()
      .toSorted((a, b) => a.order - b.order)
      .slice(-MAX_STRANGERS);
    this.#gathered.clear();
    const all = [
      ...this.#written,
      ...gathered.map(({ like, decision }) => ({ like, id: decision.requestId })),
    ];
    const counts = new Map<string, number>();
    const forgotten: string[] = [];
    const left = all.toReversed().filter(({ like, id }) => {
      const count = (counts.get(like) ?? 0) + 1;
      counts.set(like, count);
      if (count > MAX_ALIKE) forgotten.push(id);
      return count <= MAX_ALIKE;
    });
    this.#written = left.slice(0, MAX_STRANGERS).toReversed();
    return { decisions: gathered.map(({ decision }) => decision), forgotten };
  }
}
