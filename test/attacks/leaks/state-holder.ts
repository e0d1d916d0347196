let held: unknown;
export const swap = (next: unknown) => { const old = held; held = next; return old; };
