import * as z from 'zod';
import { defined } from '../../base/json.ts';
import type { LocatedValue } from '../../base/document/document.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import { whole } from './keys/mapping-key.ts';

/** A reference would bring a secret into code that only handles what came from outside. */
const LiteralSchema = z
  .string()
  .max(4096)
  .refine((text) => !/\$\{[A-Za-z_]\w*\}/.test(text), {
    error: 'must be a literal: a reference such as ${NAME} is not resolved for a transform',
  });

/** Bounds of a transform's limits; `sandbox/transform.ts` says what each limits. */
export const TransformSchema = z.union([
  z
    .string()
    .min(1)
    .describe(
      'Module in hooks.transformsDir; its default export is called, or else its export named transform.',
    ),
  z.strictObject({
    module: z.string().min(1).describe('Module in hooks.transformsDir.'),
    export: z
      .string()
      .min(1)
      .optional()
      .describe('Name of the exported function; default `default`, or else `transform`.'),
    timeoutMs: whole(1, 30_000).optional().describe('Time limit in milliseconds; default 1000.'),
    memoryMb: whole(8, 128).optional().describe('Memory limit in MiB; default 64.'),
    maxResultBytes: whole(1, 4_194_304).optional().describe('Largest result in bytes; default 1048576.'),
    maxLogBytes: whole(0, 1_048_576).optional().describe('Most bytes of console output; default 65536.'),
    reuse: z.boolean().optional().describe('Whether calls share the state of the module; default false.'),
    jit: z.boolean().optional().describe('Whether the module may use the JIT compiler; default false.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), LiteralSchema)
      .optional()
      .describe('What the module reads as process.env: literals, no references and no secrets.'),
  }),
]);

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
  transform: z.output<typeof TransformSchema>,
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
