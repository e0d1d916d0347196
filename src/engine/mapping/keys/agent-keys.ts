import * as z from 'zod';
import { SUMMARY_MODES, THINKING_LEVELS, thinkingLevel } from '../../../base/action.ts';
import { say } from '../../../base/finding.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { quote, type MappingReport, type MappingReporter } from '../reporter.ts';
import {
  type KeyCompiling,
  keysOf,
  same,
  whole,
  checkName,
  holdsReference,
  routingTemplate,
} from './mapping-key.ts';
import type { LocatedValue } from '../../../base/document/document.ts';
import type { CompiledMapping } from '../compiled-mapping.ts';
import { isReserved } from '../scope.ts';
import { defined } from '../../../base/json.ts';
import type { TransformRef } from '../../sandbox/sandbox.ts';

/** A reference would bring a secret into code that only handles what came from outside. */
const LiteralSchema = z
  .string()
  .max(4096)
  .refine((text) => !/\$\{[A-Za-z_]\w*\}/.test(text), {
    error: 'must be a literal: a reference such as ${NAME} is not resolved for a transform',
  });

/** Bounds of a transform's limits; `sandbox/transform.ts` says what each limits. */
const TransformSchema = z.union([
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
function toTransformRef(transform: z.output<typeof TransformSchema>, located: LocatedValue): TransformRef {
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

/** Which agent takes a run, with what, and who hears of it. */
export const agentKeys = keysOf({
  model: {
    about: 'Template: model name or alias for this run.',
    schema: z.string(),
    actions: ['agent'],
    compile: (_written, at) => {
      const compiled = routingTemplate(at);
      if (compiled?.literal !== undefined) checkModel(at, compiled.literal.trim());
      return compiled;
    },
    explain: clearLine,
  },
  thinking: {
    about: 'Template: thinking level for this run.',
    schema: z.string(),
    actions: ['agent'],
    compile: (_written, at) => {
      const compiled = routingTemplate(at);
      if (compiled?.literal !== undefined) checkThinking(at, compiled.literal.trim());
      return compiled;
    },
    explain: clearLine,
  },
  timeoutSeconds: {
    about: 'Time limit of a run in seconds, at most agents.defaults.maxTimeoutSeconds; fractions are kept.',
    schema: z.number().positive(),
    actions: ['agent'],
    compile: same,
    explain: String,
  },
  allowUnsafeExternalContent: {
    about: 'Turns the safety boundary off for this mapping, which is dangerous; default false.',
    schema: z.boolean(),
    see: 'security.md#the-safety-boundary',
    compile: (isOff, { reporter }) => {
      if (isOff)
        reporter.report(['allowUnsafeExternalContent'], {
          severity: 'warning',
          code: 'UNSAFE_CONTENT_ALLOWED',
          isOfSafety: true,
          message: say`the safety boundary is off: the agent reads what senders write as if you had written it`,
          hint: say`put your own words into instructions and remove this key; use it only for internal senders that you trust`,
        });
      return isOff;
    },
  },
  transform: {
    about: 'Code that turns the request into actions.',
    schema: TransformSchema,
    see: 'cases-and-transforms.md#transforms',
    actions: ['agent', 'notify', 'wake'],
    compile: (written, { located, behaviours }) => ({
      ...toTransformRef(written, located),
      urlObject: behaviours.hasGatewayTransforms ?? false,
    }),
  },
  forEach: {
    about: 'Path of a list in the payload; each element becomes an action of its own.',
    schema: z.string().min(1),
    actions: ['agent', 'notify', 'wake'],
    compile: compileForEach,
  },
  summary: {
    about:
      'When the main session gets a line about the run: always, failures (of the run or its delivery) or never; default hooks.defaults.summary, else always.',
    schema: z.enum(SUMMARY_MODES),
    actions: ['agent', 'notify'],
    compile: same,
    golden: (value, { kind }) => (kind === 'notify' && value !== 'never' ? undefined : value),
  },
  runner: {
    about: 'Runner of this mapping, a name from gateway.runners; default gateway.runner.',
    schema: z.string().min(1),
    see: 'runners.md',
    actions: ['agent'],
    compile: (written, at) => {
      checkRunner(at, written);
      return written;
    },
    fill: same,
    explain: clearLine,
  },
  cwd: {
    about: 'Folder in which the agent works, a name from gateway.workFolders; default that of the runner.',
    schema: z.string().min(1),
    see: 'runners.md#where-an-agent-works',
    actions: ['agent'],
    compile: (written, at) => {
      checkWorkFolder(at, written);
      return written;
    },
    fill: same,
    explain: clearLine,
  },
});

/** A literal model has to be in the allow-list, aliases resolved. */
function checkModel({ reporter, options }: KeyCompiling, name: string): void {
  const { models, aliases = {} } = options;
  const resolved = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
  if (name === '' || models === undefined || models.includes(resolved) || holdsReference(name)) return;
  const usable = Object.entries(aliases).filter(([, model]) => models.includes(model));
  reporter.report(['model'], {
    code: 'MODEL_NOT_ALLOWED',
    message: say`the model ${quote(name)} is not in agents.defaults.models`,
    facts: { written: name, models, usable: usable.map(([alias]) => alias) },
  });
}

/** A literal thinking level is a known one: any other is ignored. */
function checkThinking({ reporter }: KeyCompiling, written: string): void {
  if (written === '' || thinkingLevel(written) !== undefined) return;
  const message = say`unknown thinking level ${quote(written)}: it is ignored`;
  const finding = { severity: 'warning', code: 'UNKNOWN_THINKING', message } as const;
  checkName(reporter, { key: 'thinking', written, known: THINKING_LEVELS, finding });
}

/** A mapping names a folder of the configuration's list, never a path of its own. */
function checkWorkFolder({ reporter, options }: KeyCompiling, written: string): void {
  const message = say`there is no folder ${quote(written)} in gateway.workFolders`;
  checkName(reporter, {
    key: 'cwd',
    written,
    known: options.workFolders,
    finding: { code: 'UNKNOWN_WORK_FOLDER', message },
    otherwise: 'add the folder there, and write its name here: an agent works only in folders of that list',
  });
}

/** A runner is a key of `gateway.runners`; the one that stands at `gateway.runner` itself is called default. */
function checkRunner({ reporter, options }: KeyCompiling, written: string): void {
  const message = say`there is no runner ${quote(written)} in gateway.runners`;
  checkName(reporter, {
    key: 'runner',
    written,
    known: options.runners,
    finding: { code: 'UNKNOWN_RUNNER', message },
    meant: written === options.defaultRunner ? 'default' : undefined,
  });
}

/** The list that a mapping makes an action of each element of. */
function compileForEach(
  written: string,
  { located, reporter }: { readonly located: LocatedValue; readonly reporter: MappingReporter },
): NonNullable<CompiledMapping['forEach']> {
  const text = written.trim();
  const keys = text.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  const [root = ''] = keys;
  const isNoPath = keys.some((key) => key === '' || /[\s{}[\]"'|]/.test(key));
  if (isNoPath || (isReserved(root) && root !== 'payload')) reporter.report(['forEach'], noPath(text));
  return { keys: root === 'payload' ? keys.slice(1) : keys, text, at: located.place(['forEach']) };
}

function noPath(text: string): MappingReport {
  const plain = plainPath(text);
  return {
    code: 'INVALID_FOR_EACH',
    message: say`forEach is a path in the payload, found ${quote(text)}`,
    ...(plain === undefined
      ? {
          hint: say`write it as messages or payload.data.items, without braces; payload alone is the whole body`,
        }
      : { hint: say`write forEach: ${plain}`, replace: { from: text, to: plain } }),
  };
}

/** A path as JSONPath, jq or a template writes it, in our spelling; undefined where it is none. */
function plainPath(text: string): string | undefined {
  const inner = text.replace(/^\{\{\s*#?(?:each\s+)?|(?<!\s)\s*\}\}$/g, '');
  const path = inner
    .replace(/^\$json\.(?:body\.)?|^\$\.?|^\.|^\{\{|\}\}$/g, '')
    .replaceAll(/\[\*?\]|\.\*/g, '')
    .trim();
  return path !== text && /^[\w-]+(?:\.[\w-]+)*$/.test(path) ? path : undefined;
}
