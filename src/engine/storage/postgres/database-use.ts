import type { DatabaseUse } from '../port.ts';

const CELLS = [
  'roundTrips',
  'roundTripMs',
  'lockWaits',
  'lockWaitMs',
] as const satisfies readonly (keyof DatabaseUse)[];

/** Counts what one thread asks of the database, in memory that another one may read. */
export class DatabaseCounter {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Float64Array;

  constructor(buffer = new SharedArrayBuffer(CELLS.length * Float64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new Float64Array(buffer);
  }

  addTrip(ms: number): void {
    this.#add(0, ms);
  }

  addWait(ms: number): void {
    this.#add(2, ms);
  }

  /** One writer each, and a figure that is read half a step late does no harm. */
  #add(cell: number, ms: number): void {
    this.#cells[cell] = (this.#cells[cell] ?? 0) + 1;
    this.#cells[cell + 1] = (this.#cells[cell + 1] ?? 0) + ms;
  }

  static sum(counters: readonly DatabaseCounter[]): DatabaseUse {
    const total = (cell: number): number =>
      counters.reduce((sum, counter) => sum + (counter.#cells[cell] ?? 0), 0);
    return Object.fromEntries(CELLS.map((name, cell) => [name, total(cell)])) as object as DatabaseUse;
  }
}
