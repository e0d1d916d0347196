import * as z from 'zod';
import type { LocatedValue, Place } from '../../../base/document/document.ts';
import { say, type Subject } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import type { CompiledCondition, CompiledMapping } from '../compiled-mapping.ts';
import { compileCondition } from '../condition/condition.ts';
import { quote, type MappingReporter } from '../reporter.ts';
import { type KeyCompiling, keysOf } from './mapping-key.ts';

const MatchSchema = z.strictObject({
  path: z
    .string()
    .optional()
    .describe(
      'Hook name: the part of the URL after hooks.path, without slashes at its ends. Left out, blank or / matches any name.',
    ),
  source: z.string().optional().describe('The value that `source` in the payload must have.'),
  // Any value here, since the condition compiler says more about a wrong one.
  when: z
    .unknown()
    .optional()
    .meta({
      anyOf: [{ type: 'boolean' }, { $ref: '#/definitions/rule' }],
      description:
        'JsonLogic condition over the request; where its result is unknown, the mapping does not match.',
    }),
});

/** Which requests a mapping takes, and what they become. */
export const routingKeys = keysOf({
  id: {
    about: 'Unique name of the mapping in logs, golden files and dedupe; default mapping-<n>.',
    schema: z.string().regex(/^[\w.:-]{1,100}$/, { error: 'letters, digits, and . : _ -, at most 100' }),
    // An action has an id of its own.
    golden: () => undefined,
  },
  enabled: { about: 'Whether the mapping is used; default true.', schema: z.boolean() },
  match: {
    about: 'Which requests the mapping takes; left out, all that no other mapping takes.',
    schema: MatchSchema,
    see: '#which-mapping-takes-a-request',
    compile: compileMatch,
  },
  continue: {
    about:
      'Experimental: whether the mappings after this one are asked as well, so that one request becomes the actions of several; default false.',
    schema: z.boolean(),
    see: '#several-mappings-for-one-request',
  },
  action: {
    about:
      'What a request becomes: an agent run, a wake, a message to people without an agent (notify), or nothing (skip, answered 204). Default agent.',
    schema: z.enum(['agent', 'wake', 'notify', 'skip']),
    see: '#notify-people',
  },
});

/** At most so many that a look-up in a request costs nothing. */
export const AccountsSchema = z.array(z.string().trim().min(1).max(200)).min(1).max(100);

const IgnoreSendersSchema = z.union([
  AccountsSchema.describe('Accounts, compared without case with where senders usually put them.'),
  z.strictObject({
    names: AccountsSchema.describe('Accounts, compared without case.'),
    from: z.string().min(1).describe('Template: where the sender puts the account.'),
  }),
]);

/** Whose requests make nothing. */
export const senderKeys = keysOf({
  ignoreSenders: {
    about:
      'Accounts whose events make nothing and are answered 204, e.g. the one that comments for the agent.',
    schema: IgnoreSendersSchema,
    see: '#no-loops',
    compile: (written, at) => {
      const place = at.located.place(['ignoreSenders']);
      if (!('names' in written)) return { names: byKey(written), at: place };
      // Senders are judged once for a request, before `forEach` takes its elements.
      const from = at.template(['ignoreSenders', 'from'], { withItem: false });
      return { names: byKey(written.names), at: place, ...defined({ from }) };
    },
  },
});

/** Names as they are written, by how they are compared. */
export function byKey(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [accountKey(name), name.trim()]));
}

/** Accounts are compared without case and without the `@` that people write before a name. */
export function accountKey(name: string): string {
  return name.trim().replace(/^@/, '').toLowerCase();
}

/** Hook names that are no mapping's: the two built-in routes and the listing of runs. */
const RESERVED_PATHS = ['wake', 'agent', 'runs'];

export interface ConditionSubject extends Subject {
  readonly kind: 'condition';
  readonly located: LocatedValue;
  /** The path of the list, as it is written. */
  readonly forEach: string | undefined;
}

type WrittenMatch = z.output<typeof MatchSchema>;

function compileMatch(
  match: WrittenMatch,
  { source, located, reporter }: KeyCompiling,
): CompiledMapping['match'] {
  const place = (part: string): Place => located.place(['match', part]);
  const path = compilePath(match.path ?? '', reporter);
  // A blank part is a wildcard, as one that is absent.
  const own = match.source === undefined || match.source.trim() === '' ? undefined : match.source;
  let when: CompiledCondition | undefined;
  if (match.when !== undefined) {
    const written = located.at(['match', 'when']);
    const { condition, findings } = compileCondition(written);
    reporter.findings.push(...findings);
    const forEach = source.forEach?.trim();
    const subject: ConditionSubject = { kind: 'condition', located: written, forEach };
    reporter.show(subject);
    when = condition;
  }
  return {
    ...(path !== undefined && { path, pathAt: place('path') }),
    ...(own !== undefined && { source: own, sourceAt: place('source') }),
    ...defined({ when }),
  };
}

export const hookName = (written: string): string => written.trim().replace(/^\/+|(?<!\/)\/+$/g, '');

/** Undefined for any name. */
function compilePath(written: string, reporter: MappingReporter): string | undefined {
  const path = hookName(written);
  if (RESERVED_PATHS.includes(path)) {
    reporter.report(['match', 'path'], {
      code: 'RESERVED_PATH',
      message: say`the path ${quote(path)} is built in, so no mapping can take it`,
      facts: { reserved: RESERVED_PATHS },
    });
  }
  const odd = unexpectedSign(path);
  if (odd !== undefined) {
    reporter.report(['match', 'path'], {
      code: 'INVALID_MAPPING_PATH',
      message: say`the path ${quote(path)} contains ${quote(odd)}, which cannot be part of the path of a request`,
    });
  }
  return path === '' ? undefined : path;
}

/** What cannot be part of the path of a request: a name is compared as it is. */
const unexpectedSign = (path: string): string | undefined => /[^!$&-;=@-Z_a-z~%]|\/\//.exec(path)?.[0];
