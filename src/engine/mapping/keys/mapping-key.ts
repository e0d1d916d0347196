import * as z from 'zod';
import type { Action, AgentAction } from '../../../base/action.ts';
import { type LocatedValue, type Path, didYouMean } from '../../../base/document/document.ts';
import type { VerifySettings } from '../../verify/verify.ts';
import type { CompiledMapping, CompiledTemplate, ActionFilling, PathSettings } from '../compiled-mapping.ts';
import type { CompileOptions } from '../compile-options.ts';
import type { MappingReporter } from '../reporter.ts';
import { quoted, say, type Sentence } from '../../../base/finding.ts';

/**
 * One key of a mapping, and all that is to be said of it. The schemas, the tables of the documentation, completion,
 * the compiled mapping, the actions and their printed forms are made from these.
 */
export interface MappingKey<Schema extends z.ZodType = z.ZodType, Compiled = unknown, Value = unknown> {
  /** The line of the reference; it begins with `Experimental:` where the key is experimental. */
  readonly about: string;
  readonly schema: Schema;
  /** Where the documentation says more, e.g. `channels.md#threads`. */
  readonly see?: string;
  /** The actions that read it; absent: the key has a meaning for each. */
  readonly actions?: readonly CompiledMapping['action'][];
  /** Absent: it is read where the mapping as a whole is compiled. */
  compile?(written: z.output<Schema>, at: KeyCompiling): Compiled | undefined;
  /** The field of the action: what a run needs later is stored with it. Absent: requests may fill it, too (`draft.ts`). */
  fill?(compiled: Compiled, at: ActionFilling): Value | undefined;
  /** In an expectation of a golden case; absent: as it is. */
  golden?(value: Value, action: Action): unknown;
  /** Behind the name of the key, as `explain` prints it; absent: it is printed with others, or not at all. */
  explain?(value: Value): string;
}

/** What a mapping is compiled to, and an action has, by the key. */
type CompiledValue<Key> = Key extends keyof CompiledKeys ? NonNullable<CompiledKeys[Key]> : never;
type CompiledKeys = CompiledMapping & PathSettings;
type ActionValue<Key> = Key extends keyof AgentAction ? NonNullable<AgentAction[Key]> : never;

/** A group of keys, in the order in which they are printed. */
export const keysOf = <Schemas extends Readonly<Record<string, z.ZodType>>>(entries: {
  readonly [Key in keyof Schemas]: MappingKey<Schemas[Key], CompiledValue<Key>, ActionValue<Key>>;
}): typeof entries => entries;

/** What a key may look at while it is compiled. */
export interface KeyCompiling {
  readonly key: string;
  /** What keys look at of each other, as it is written. */
  readonly source: {
    readonly id?: string | undefined;
    readonly match?: { readonly path?: string | undefined } | undefined;
    readonly action?: CompiledMapping['action'] | undefined;
    readonly transform?: unknown;
    readonly forEach?: string | undefined;
    readonly approve?: unknown;
    readonly trust?: readonly string[] | undefined;
    readonly verify?: VerifySettings | undefined;
    readonly method?: string | undefined;
  };
  readonly located: LocatedValue;
  readonly reporter: MappingReporter;
  readonly options: CompileOptions;
  readonly behaviours: CompiledMapping['behaviours'];
  /** 0-based position in first-match order. */
  readonly order: number;
  /** The templates of the keys before it. */
  readonly templates: ReadonlyMap<string, CompiledTemplate>;
  /** The template that stands there; undefined where it is wrong, which is reported. */
  template(path: Path, options?: { readonly withItem: false }): CompiledTemplate | undefined;
}

export const whole = (min: number, max: number): z.ZodInt => z.int().min(min).max(max);

export const same = <Value>(value: Value): Value => value;

export const template = (_written: unknown, at: KeyCompiling): CompiledTemplate | undefined =>
  at.template([at.key]);

/** A template that says where a reply goes or what runs: what the request decides has to be trusted to do so. */
export function routingTemplate(at: KeyCompiling): CompiledTemplate | undefined {
  const { key, source, reporter, behaviours } = at;
  const compiled = at.template([key]);
  const untrusted = compiled?.reads.filter((name) => name !== 'now' && name !== 'index') ?? [];
  if (untrusted.length === 0 || behaviours.trustsSenders || source.trust?.includes(key) === true)
    return compiled;
  reporter.report([key], {
    severity: 'warning',
    code: 'UNTRUSTED_ROUTING',
    isOfSafety: true,
    message: say`"${key}" is taken from the request (${untrusted.slice(0, 3).join(', ')}): whoever sends it decides`,
    facts: { key },
  });
  return compiled;
}

/** A reference as the configuration takes it, which mappings do not replace. */
export const holdsReference = (text: string): boolean => /\$\{([A-Za-z_]\w*)\}/.test(text);

interface NameCheck {
  readonly key: string;
  readonly written: string;
  /** Undefined where it is not known which there are. */
  readonly known: readonly string[] | undefined;
  readonly finding: { readonly code: string; readonly severity?: 'warning'; readonly message: Sentence };
  /** What is meant in place of it, where that is known otherwise than by its letters. */
  readonly meant?: string | undefined;
  readonly otherwise?: string;
}

export function checkName(
  reporter: MappingReporter,
  { key, written, known, finding, meant, otherwise = '' }: NameCheck,
): void {
  if (known === undefined || known.includes(written)) return;
  const near = meant ?? didYouMean(written, known);
  const all = known.length === 0 ? '' : `choose one of: ${known.join(' ')}`;
  reporter.report([key], {
    ...finding,
    hint:
      near === undefined
        ? quoted([all, otherwise].filter(Boolean).join('; or '))
        : say`did you mean "${near}"?`,
    ...(near === undefined ? {} : { replace: { from: written, to: near } }),
  });
}
