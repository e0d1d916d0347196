import * as z from 'zod';

export const within = (min: number, max: number): z.ZodNumber => z.number().min(min).max(max);

export function whole(min: number, max: number): z.ZodNumber {
  return z.number().int().min(min).max(max);
}

export const text = z.string().min(1);
