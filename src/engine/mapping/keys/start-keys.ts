import * as z from 'zod';
import { PERMISSIONS } from '../../../base/action.ts';
import { didYouMean } from '../../../base/document/document.ts';
import { quoted, say, type Sentence } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { accountsOf, type Sender, shippedSenders } from '../../senders/senders.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import type { StartRule } from '../compiled-mapping.ts';
import { type MappingReport, quote } from '../reporter.ts';
import { AccountsSchema, byKey, hookName } from './routing-keys.ts';
import { type KeyCompiling, keysOf } from './mapping-key.ts';

const PermissionSchema = z
  .enum(PERMISSIONS)
  .describe('What an account must be allowed to do at the place of the event, at least.');

const StartedBySchema = z.union([
  PermissionSchema,
  z.strictObject({
    permission: PermissionSchema.optional(),
    accounts: AccountsSchema.optional().describe(
      'Accounts that may start it, whatever they may do otherwise.',
    ),
    bots: z
      .boolean()
      .optional()
      .describe('Whether an account that the sender calls a bot may; default true.'),
    others: z
      .enum(['skip', 'approve'])
      .optional()
      .describe('What others cause: nothing, or somebody is asked (approve). Default skip.'),
    token: z
      .union([
        z.string().regex(/^\$\{[A-Za-z_]\w*\}$/, { error: 'a reference: ${NAME}, or {file: …}' }),
        z.strictObject({ file: z.string().min(1) }),
      ])
      .optional()
      .describe(
        'Reference to a token that may read permissions; default that of the channel of the sender, or of recover.',
      ),
    sender: z.string().min(1).optional().describe('The name of the sender, where the path does not say it.'),
    account: z.string().min(1).optional().describe('Template: who caused the event.'),
    role: z.string().min(1).optional().describe('Template: what the event says of that account.'),
  }),
]);
type WrittenStart = Exclude<z.output<typeof StartedBySchema>, string>;

export const startKeys = keysOf({
  startedBy: {
    about:
      'Experimental: who may start it, by permission at the sender (read, triage, write, maintain, admin) or by name; default everybody whose request is proved.',
    schema: StartedBySchema,
    see: 'security.md#who-may-start-a-run',
    actions: ['agent', 'wake', 'notify'],
    compile: (written, at) =>
      compileStart(typeof written === 'string' ? { permission: written } : written, at),
    golden: ({ question, notAllowed, asksOthers }) =>
      defined({ ask: question?.sender, account: question?.account, ...notAllowed, asksOthers }),
    explain: ({ question }) =>
      question === undefined
        ? 'somebody is asked about the account'
        : clearLine(`${question.sender} is asked whether ${question.account} has ${question.wanted}`),
  },
});

/** The sender of a mapping: by its name, or that of its path, unless its path is proved otherwise, as another does. */
export function senderOf(
  { source, options }: Pick<KeyCompiling, 'source' | 'options'>,
  name?: string,
): Sender | undefined {
  const senders = sendersOf(options);
  const path = hookName(source.match?.path ?? '');
  const scheme = source.verify?.scheme ?? options.schemes?.get(path);
  const found = senders.find((each) => each.name === (name ?? path));
  if (name !== undefined || scheme === undefined) return found;
  // Several sign alike: Gitea and Forgejo as GitHub does.
  const isProved = found !== undefined && (found.verify?.scheme ?? scheme) === scheme;
  return isProved ? found : senders.find((each) => each.name === scheme);
}

const sendersOf = ({ senders }: KeyCompiling['options']): readonly Sender[] =>
  senders?.() ?? shippedSenders();

/** Where accounts stand in the requests of a mapping: first those of its sender, then those of all that are known. */
export function accountPaths(at: Pick<KeyCompiling, 'source' | 'options'>): readonly string[] {
  const all = sendersOf(at.options);
  return [
    ...new Set([senderOf(at), ...all].flatMap((sender) => (sender === undefined ? [] : accountsOf(sender)))),
  ];
}

function compileStart(written: WrittenStart, at: KeyCompiling): StartRule | undefined {
  const { permission, accounts = [], bots = true, token } = written;
  const sender = senderOf(at, written.sender);
  if (!checkStart(written, at, sender)) return undefined;
  const template = (key: 'account' | 'role') =>
    written[key] === undefined ? undefined : at.template(['startedBy', key], { withItem: false });
  return {
    accounts: byKey(accounts),
    takesBots: bots,
    asksOthers: written.others === 'approve',
    isAsked:
      sender?.permission !== undefined &&
      (token !== undefined ||
        at.options.hasToken?.(sender.name) === true ||
        at.options.askedPaths?.has(hookName(at.source.match?.path ?? '')) === true),
    ...defined({ permission, sender, token, account: template('account'), role: template('role') }),
  };
}

/** Whether somebody could start it; what is wrong is reported. */
function checkStart(
  { permission, accounts, others, token, sender: named, account, role }: WrittenStart,
  { reporter, options, source }: KeyCompiling,
  sender: Sender | undefined,
): boolean {
  const wrong = (
    part: string,
    message: Sentence,
    hint: Sentence,
    replace?: MappingReport['replace'],
  ): false => {
    const path = part === '' ? ['startedBy'] : ['startedBy', part];
    reporter.report(path, { code: 'INVALID_STARTED_BY', message, hint, ...defined({ replace }) });
    return false;
  };
  if (permission === undefined && accounts === undefined)
    return wrong(
      '',
      say`"startedBy" says neither a permission nor accounts, so that nobody could start it`,
      say`write startedBy: write, or name accounts, or remove it`,
    );
  if (named !== undefined && sender === undefined) {
    const near =
      didYouMean(
        named,
        sendersOf(options).map(({ name }) => name),
      ) ?? 'github';
    return wrong('sender', say`there is no sender ${quote(named)}`, say`did you mean "${near}"?`, {
      from: named,
      to: near,
    });
  }
  if (account === undefined && (sender === undefined || accountsOf(sender, true).length === 0))
    return wrong(
      '',
      say`it is not known where ${quoted(sender?.title ?? 'the sender of this path')} puts the account that caused a request`,
      say`write account: '{{user.name}}' with the field that has it, or sender: github`,
    );
  if (permission !== undefined && role === undefined && (sender?.role ?? sender?.permission) === undefined)
    return wrong(
      'permission',
      say`what an account may do cannot be known of ${quoted(sender?.title ?? 'this sender')}`,
      say`name accounts in its place, or write a template as role, which prints one of ${PERMISSIONS.join(', ')}`,
    );
  if (
    token !== undefined &&
    options.resolveReference?.(token) === undefined &&
    options.resolveReference !== undefined
  )
    return wrong(
      'token',
      say`there is no token behind the reference`,
      say`set the variable, or write the token into the file`,
    );
  if (others === 'approve' && source.approve === undefined)
    return wrong(
      '',
      say`nobody is named who is asked about others`,
      say`add the key approve to the mapping, with the channel and recipient that are asked`,
    );
  return true;
}
