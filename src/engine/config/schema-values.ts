import * as z from 'zod';

/** A whole number within bounds. */
export function whole(min: number, max: number): z.ZodNumber {
  return z.number().int().min(min).max(max);
}

export const text = z.string().min(1);
