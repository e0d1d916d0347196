import type { ConversationKey } from '../../base/conversation.ts';
import type { HookRoutes } from '../../authoring/advice/routes.ts';
import type { ImportedConfig } from '../../engine/config/facts.ts';
import type { FindingJson } from '../../base/document/facts.ts';
import {
  type CopyReport,
  type DecisionJson,
  type EventJson,
  type OpenWork,
  type OutboxJson,
  type RestoreReport,
  type RunJson,
  type StoreStatus,
  type StoreUser,
} from '../../engine/storage/facts.ts';
import type { ExplanationJson, StoredJson } from '../../authoring/explanation/explanation.ts';
import type { ImpactReport } from '../../authoring/golden/golden.ts';
import type { MailboxFolder, MailboxReport } from '../../service/mail/mail.ts';
import type { TransformReply } from '../../engine/sandbox/sandbox.ts';
import type { ProofCode } from '../../engine/verify/facts.ts';
import type {
  AuditRecord,
  Backlog,
  CostRecord,
  SessionRecord,
  SessionTurn,
  SetAsideMail,
  WorkPlan,
} from '../../engine/storage/storage.ts';
import type { Cause } from '../../service/operations/operations.ts';
import type { Check } from './operating/doctor-machine.ts';
import type { Terminal } from './terminal.ts';
import type { WriteProof } from './setup/write-proof.ts';

/**
 * The same row with times as ISO 8601. `Always` names times that every row has, `Sometimes` those that a row may have.
 */
type IsoTimes<Row, Always extends keyof Row, Sometimes extends keyof Row = never> = Omit<
  Row,
  Always | Sometimes
> &
  Record<Always, string> &
  Partial<Record<Sometimes, string>>;

export interface ChannelVerdict {
  readonly channel: string;
  readonly ok: boolean;
  readonly account: string;
  readonly code: string;
  readonly message: string;
}

export interface LastChannel {
  readonly text: string;
  readonly channel?: string;
  readonly to?: string;
}

export interface CheckedRunner {
  readonly runner: string;
  readonly kind: string;
  readonly ok: boolean;
  /** The reply, or code and reason. */
  readonly said: string;
  readonly tookMs: number;
  /** Whether a coding agent that answered is kept from writing. */
  readonly write?: WriteProof;
}

export interface Answer {
  readonly status: number;
  readonly requestId: string | null;
  readonly body: unknown;
}

export interface Verdict {
  readonly path: string;
  readonly scheme: string;
  readonly proved: boolean;
  /** 0 for the current secret; absent where the request is refused. */
  readonly retired?: number;
  /** Why a request did not prove itself, as far as it is known; `text` says what to do, too. */
  readonly diagnosis?: { readonly code: ProofCode; readonly text: string };
  /** What the path requires besides, and no file can show. */
  readonly notJudged?: readonly string[];
}

/** What a sender could not deliver to a path, and what came of asking for it. */
export interface RecoveredPath {
  readonly path: string;
  readonly sender: string;
  readonly since: string;
  /** How many events its log tells of. */
  readonly events: number;
  readonly missed: number;
  /** Missed, and not taken meanwhile. */
  readonly toAsk: number;
  readonly asked: number;
  readonly came: number;
  readonly started: number;
  readonly gaveUp: number;
  /** Why that may not be all. */
  readonly trouble?: string | undefined;
}

export interface EffectiveSettingJson {
  readonly key: string;
  readonly value: string | number | boolean | null;
  /** The place in a file, the variable or file of a reference, or `default`. */
  readonly from: string;
}

type ChangeCount = { readonly changed: number };

/**
 * What each command prints with `--json`, beside `version` and `command`. `schemas/output.schema.json` is made of these
 * types and their comments. Nothing is removed and no meaning changes without another version.
 */
export interface Outputs {
  readonly check: {
    readonly findings: readonly FindingJson[];
    /** Warnings that the files say are meant, with the reason that they give. */
    readonly ignored: readonly (FindingJson & { readonly reason: string })[];
  };
  /** Every setting with its value; a secret is masked. */
  readonly 'config show': { readonly settings: readonly EffectiveSettingJson[] };
  readonly doctor: {
    /** What was looked at on this machine. */
    readonly checks: readonly Check[];
    /** What is wrong with the files. */
    readonly findings: readonly FindingJson[];
  };
  /** A file has one evaluation for each of its requests; an id has what is stored, and what it would be now. */
  readonly explain: { readonly evaluations: readonly ExplanationJson[] } | StoredJson;
  readonly diff: ImpactReport;
  /** The mappings of each hook name in their order, and what is proved of them. */
  readonly routes: { readonly hooks: readonly HookRoutes[] };
  readonly send: { readonly answers: readonly Answer[] };
  readonly verify: { readonly proofs: readonly Verdict[] };
  readonly 'transform run': { readonly reply: TransformReply };
  /** Files that were written, and what became of each setting. */
  readonly 'import openclaw': Omit<ImportedConfig, 'files'> & { readonly files: readonly string[] };
  readonly 'runners check': { readonly runners: readonly CheckedRunner[] };
  readonly 'channels check': { readonly channels: readonly ChannelVerdict[]; readonly last: LastChannel };
  readonly events: { readonly events: readonly EventJson[] };
  readonly runs: { readonly runs: readonly RunJson[] };
  readonly requests:
    | { readonly requests: readonly DecisionJson[] }
    | { readonly causes: readonly IsoTimes<Cause, 'firstAt' | 'since' | 'lastAt'>[] };
  readonly recover: { readonly paths: readonly RecoveredPath[] };
  readonly costs: { readonly costs: readonly CostRecord[] };
  readonly audit: { readonly changes: readonly IsoTimes<AuditRecord, 'at'>[] };
  readonly 'queue list': { readonly work: readonly (RunJson | OutboxJson | EventJson)[] };
  readonly 'queue show':
    | { readonly run: RunJson; readonly outbox: readonly OutboxJson[] }
    | { readonly entry: OutboxJson | EventJson };
  readonly 'queue retry': ChangeCount & Partial<Pick<WorkPlan, 'leftOut'>>;
  readonly 'queue drop': ChangeCount & Partial<Pick<WorkPlan, 'leftOut'>>;
  readonly approve: { readonly decision: 'approved' | 'denied' | null; readonly isFirst: boolean };
  readonly 'queue pause': ChangeCount;
  readonly 'queue resume': ChangeCount;
  readonly 'sessions list': {
    readonly sessions: readonly (IsoTimes<Omit<SessionRecord, 'keys'>, 'createdAt' | 'lastUsedAt'> & {
      readonly keys: readonly IsoTimes<ConversationKey, 'until'>[];
    })[];
  };
  readonly 'sessions show': { readonly turns: readonly IsoTimes<SessionTurn, 'at'>[] };
  readonly 'storage status': {
    readonly store: Omit<StoreStatus, 'services'> & {
      readonly services: readonly IsoTimes<StoreUser, never, 'startedAt'>[];
    };
    readonly backlog?: IsoTimes<Backlog, never, 'oldestQueuedAt' | 'oldestDeadAt'>;
  };
  readonly 'storage copy': CopyReport;
  readonly 'storage restore': Omit<RestoreReport, 'waiting' | 'before'> & {
    /** What is performed when the service starts. */
    readonly waiting: readonly IsoTimes<OpenWork, 'since'>[];
    /** The store that was here; its work is absent where it cannot be read. */
    readonly before?: { readonly file: string; readonly unfinished?: readonly IsoTimes<OpenWork, 'since'>[] };
  };
  readonly 'webhooks mail status': {
    readonly mailboxes: readonly IsoTimes<MailboxReport, 'since', 'retryAt' | 'lastMailAt'>[];
  };
  readonly 'webhooks mail list': {
    readonly messages: readonly (IsoTimes<
      Omit<SetAsideMail, 'from' | 'subject'>,
      'receivedAt' | 'setAsideAt'
    > &
      Partial<Pick<SetAsideMail, 'from' | 'subject'>>)[];
  };
  readonly 'webhooks mail retry': ChangeCount;
  readonly 'webhooks mail drop': ChangeCount;
  readonly 'webhooks mail setup': {
    readonly mail: Readonly<Record<string, unknown>>;
    readonly folders: readonly Omit<MailboxFolder, 'proofs'>[];
    readonly written: readonly string[];
  };
}

type OutputEnvelopes = {
  readonly [Command in keyof Outputs]: { readonly version: 1; readonly command: Command } & Outputs[Command];
};
export type Output = OutputEnvelopes[keyof Outputs];

/** Prints what a command has found: on one line, or readable where people look at it. */
export function printJson<Command extends keyof Outputs>(
  terminal: Pick<Terminal, 'out' | 'columns'>,
  command: Command,
  output: Outputs[Command],
): void {
  const indent = terminal.columns === undefined ? undefined : 2;
  terminal.out(JSON.stringify({ version: 1, command, ...output }, undefined, indent));
}
