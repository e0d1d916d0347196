import { defined } from '../../base/json.ts';
import type { LocatedValue } from '../../base/document/document.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import type { MappingSource } from './mapping-schema.ts';

/** Limits of a transform where its mapping says nothing. */
export const TRANSFORM_DEFAULTS = {
  timeoutMs: 1_000,
  memoryMb: 64,
  maxResultBytes: 1_048_576,
  maxLogBytes: 65_536,
  reuse: false,
  jit: false,
  urlObject: false,
  env: {},
} as const;

/** A `transform` entry with its defaults, at the place that names the module. */
export function toTransformRef(
  transform: NonNullable<MappingSource['transform']>,
  located: LocatedValue,
): TransformRef {
  if (typeof transform === 'string') {
    return { ...TRANSFORM_DEFAULTS, module: transform, at: located.place(['transform']) };
  }
  return {
    ...TRANSFORM_DEFAULTS,
    ...defined(transform),
    module: transform.module,
    at: located.place(['transform', 'module']),
  };
}
