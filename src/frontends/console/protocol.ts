/** What the console's service and its page say to each other: plain data, and nothing but types. */
import type { Role } from './access.ts';
import type { StoredJson } from '../../authoring/explanation/explanation.ts';
import type {
  AuthorFile,
  Impact,
  Judgement,
  CompletionChoice,
  ShownFinding,
} from '../../authoring/workbench/workbench.ts';
import type { LostRequest, RECORDS } from '../../service/operations/operations.ts';
import type { OutboxJson, RunJson } from '../../engine/storage/facts.ts';
import type { MappingActivity, Replay } from '../../engine/storage/storage.ts';

export type {
  AuthorFile,
  FileContent,
  Judgement,
  KeptCase as GoldenAnswer,
  ShownFinding,
} from '../../authoring/workbench/workbench.ts';
export type {
  End as ShownEnd,
  Need,
  Overview,
  Pausable,
  ReplayResult,
} from '../../service/operations/operations.ts';

/** One request in the inbox. Without any value of a payload, as decisions are. */
export interface InboxRow {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly path: string;
  readonly status: number;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly code?: string;
  readonly mapping?: string;
  /** Why it missed, or what is odd about it, in a line. */
  readonly note?: string;
  /** Ids of the runs and events it became: what became of them is asked for apart. */
  readonly work?: readonly string[];
  /** Nothing new was made. */
  readonly isRepeat?: true;
  /** The request that it is a replay of, and its own replays. */
  readonly replayOf?: string;
  readonly replays?: readonly Replay[];
  readonly tookMs: number;
  /** Of the body; absent where it was not read. */
  readonly bytes?: number;
}

/**
 * A page of a list, asked with `limit` (100, at most 500) and, where they apply, `state`, `mapping` and `run`: `/api/runs`
 * and `/api/deliveries`. `/api/mappings`, `/api/conversations`, `/api/costs` and `/api/audit` are one page. Rows have the
 * shape that `--json` of the command line has.
 */
export interface ListPage<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Keys of the rows, in the order of a table. */
  readonly columns?: string;
  /** Where there is more, or more to look at: what to ask as `before`. */
  readonly next?: string;
}

/** A mapping in the last 24 hours; the routes that are built in have an empty id. */
export interface MappingRow extends MappingActivity {
  /** Of a mapping that makes runs. */
  readonly runner?: string;
  readonly usdPerDay?: number;
  /** No mapping has this id any more. */
  readonly isGone?: true;
}

/** What it waits for, of a queued run: in two words, or an ISO time. */
export type RunListRow = RunJson & { readonly why?: string };
export type DeliveryRow = OutboxJson;

/** A conversation; without its key for who may not see what was sent. */
export type ConversationRow = ReturnType<typeof RECORDS.conversations.toJson> & { readonly id: string };

/** The runs of one conversation (`/api/conversation` with its `id`), oldest first; `next` asks for those before. */
export interface ConversationPage extends ListPage<RunListRow> {
  readonly conversation: ConversationRow;
}

/** What a change of several would do, in words, and what it would leave out. */
export interface PlannedChange {
  /** When the plan was made: the change is of what was there then. */
  readonly until: number;
  readonly count: number;
  readonly says: string;
  readonly leftOut: readonly string[];
}

/** What would become of a request that is taken again. */
export interface PlannedReplay {
  readonly id: string;
  readonly end: 'taken' | 'refused' | NonNullable<LostRequest['end']>;
  /** The mapping, why it would be refused again, or the other request. */
  readonly says?: string;
}

/** What a replay of a list would do, the oldest first. */
export interface ReplayPlan {
  readonly plan: readonly PlannedReplay[];
  /** How many were not looked at, as one replay takes only so many: the next plan begins with them. */
  readonly later: number;
}

/** Requests found by a search over what is kept, and where it goes on. */
export interface FoundPart {
  readonly rows: readonly InboxRow[];
  /** Kept requests that were looked at. */
  readonly looked: number;
  readonly cursor?: string;
}

/** What the page has to know before it shows anything. */
export interface ConsoleState {
  readonly mode: 'dev' | 'serve';
  /** What the session that asked may do; absent where all are told. */
  readonly role?: Role;
  readonly generation: string;
  readonly mappings: readonly string[];
  /** Address that hooks are sent to. */
  readonly hooksUrl: string;
}

export interface InboxPage {
  /** Newest first. */
  readonly rows: readonly InboxRow[];
  /** There are further requests before these. */
  readonly hasMore: boolean;
  readonly state: ConsoleState;
}

/** A request that was kept, with its exact payload. */
export interface KeptContent {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** JSON text: the page reads its numbers exactly. */
  readonly payload: string;
}

/** A run, an event or what is sent, as `--json` of the command line has it. */
export type WorkJson = Readonly<Record<string, unknown>> & { readonly outbox?: readonly WorkJson[] };

/** Everything about one request. */
export interface RequestPage {
  readonly id: string;
  readonly row?: InboxRow;
  /** Decision, runs and events as `sluice explain ID --json` has them, how it was judged when it came, and what is said of it. */
  readonly stored: StoredJson;
  readonly kept?: KeptContent;
  /** As it would be judged now, or as it was by the files of then; absent where it was not kept. */
  readonly now?: Judgement;
  /** Its judgement is by the mappings and transforms that judged it when it came, which are others now. */
  readonly isByThen?: true;
  /** Why it cannot be judged now: the files have errors. */
  readonly nowProblem?: string;
}

export interface AuthorFiles {
  readonly files: readonly AuthorFile[];
}

/** What a draft means for the chosen request. */
export interface DraftAnswer {
  readonly findings: readonly ShownFinding[];
  /** Absent where the draft has errors or no request is chosen. */
  readonly judgement?: Judgement;
}

/** What a draft means for all requests that are at hand. */
export interface ImpactAnswer extends Impact {
  /** What the type checker says of a transform: it takes longer than everything else. */
  readonly typeFindings: readonly ShownFinding[];
}

export type SaveAnswer =
  /** `findings` keep it from going live: what was live before goes on. */
  | { readonly kind: 'saved'; readonly version: string; readonly findings: number }
  /** The file on disk is another than the one that was opened. */
  | { readonly kind: 'changed'; readonly version: string };

/** What can be written at a place of a text. */
export interface Completion {
  /** Where the text begins that a choice takes the place of. */
  readonly from: number;
  readonly options: readonly CompletionChoice[];
  /** The source of a regular expression: a text that is typed on within it needs no other offer. */
  readonly validFor: string;
}
