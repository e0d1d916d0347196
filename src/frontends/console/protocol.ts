/** What the console's service and its page send each other: plain data, and nothing but types. */
import type { Role } from './access.ts';
import type { StoredJson } from '../../authoring/explanation/explanation.ts';
import type { Judgement, CompletionChoice, ShownFinding } from '../../authoring/workbench/workbench.ts';
import type {
  End,
  LostRequest,
  MappingHits,
  RECORDS,
  ReplayResult,
} from '../../service/operations/operations.ts';
import type { OutboxJson, RunJson } from '../../engine/storage/facts.ts';
import type { MappingActivity, Replay } from '../../engine/storage/storage.ts';

export type {
  AuthorFile,
  FileContent,
  Impact,
  Judgement,
  ShownFinding,
} from '../../authoring/workbench/workbench.ts';
export type { Cause, End as ShownEnd, Overview, Pausable } from '../../service/operations/operations.ts';

/** One request in the inbox. Like decisions, it has no value of a payload. */
export interface InboxRow {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly path: string;
  readonly status: number;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly code?: string;
  readonly mapping?: string;
  /** Why the request missed, or what is odd about it, in a line. */
  readonly note?: string;
  /** Ids of the runs and events that the request became; the page asks separately what became of them. */
  readonly work?: readonly string[];
  /** The request was a repeat, so nothing new was made. */
  readonly isRepeat?: true;
  /** The request that was replayed, and the replays of this one. */
  readonly replayOf?: string;
  readonly replays?: readonly Replay[];
  readonly tookMs: number;
  /** The size of the body; absent where it was not read. */
  readonly bytes?: number;
}

/**
 * A page of a list, asked with `limit` (100, at most 500) and, where they apply, `state`, `mapping` and
 * `run`: `/api/runs` and `/api/deliveries`. `/api/mappings`, `/api/conversations`, `/api/costs` and
 * `/api/audit` are one page. Rows have the shape that `--json` of the command line has.
 */
export interface ListPage<Row> {
  /** The newest row is first. */
  readonly rows: readonly Row[];
  /** Keys of the rows, in the order of a table. */
  readonly columns?: string;
  /** Set where there is more, or more to look at: the value to ask as `before`. */
  readonly next?: string;
}

/** A mapping in the last 24 hours, without hits before they are counted; the routes that are built in have an empty id. */
export interface MappingRow extends MappingActivity, Partial<MappingHits> {
  /** Set for a mapping that makes runs. */
  readonly runner?: string;
  readonly usdPerDay?: number;
}

/** `why` says what a queued run waits for, in two words or as an ISO time, or which worker has one that is under way. */
export type RunListRow = RunJson & { readonly why?: string };
export type DeliveryRow = OutboxJson;

/** A conversation; the key is absent for a visitor who may not see what was sent. */
export type ConversationRow = ReturnType<typeof RECORDS.conversations.toJson> & { readonly id: string };

/** The runs of one conversation (`/api/conversation` with its `id`), oldest first; `next` asks for those before. */
export interface ConversationPage extends ListPage<RunListRow> {
  readonly conversation: ConversationRow;
}

/** What a change of several would do, in words, and what it would leave out. */
export interface PlannedChange {
  readonly says: string;
  readonly leftOut: readonly string[];
  /** What it would change. */
  readonly ids: readonly string[];
  /** How many more there are: the next plan begins with them. */
  readonly later: number;
}

export interface PlannedReplay {
  readonly id: string;
  readonly end: 'taken' | 'refused' | NonNullable<LostRequest['end']>;
  /** The mapping, why the request would be refused again, or the other request. */
  readonly says?: string;
}

/** A request that was taken again, and the runs and events that it became. */
export interface TakenAgain extends ReplayResult {
  readonly work: readonly string[];
}

/** What a replay of a list would do, the oldest first. */
export interface ReplayPlan {
  readonly plan: readonly PlannedReplay[];
  /** How many were not looked at, because one replay accepts only so many; the next plan begins with them. */
  readonly later: number;
}

/** Requests found by a search over what is stored, and where it goes on. */
export interface FoundPart {
  readonly rows: readonly InboxRow[];
  readonly looked: number;
  /** How many of them were accepted ones of which only the shape is kept. */
  readonly shapes: number;
  /** When the oldest of them came. */
  readonly since: number;
  readonly cursor?: string;
  /** With the last part: the hook names whose sender keeps a log of what it could not deliver. */
  readonly logs?: readonly string[];
}

/** What the page has to know before it shows anything. */
export interface ConsoleState {
  /** What the session that asked may do. */
  readonly role: Role;
  readonly generation: string;
  /** Tells it from the one before where files are changed and changed back. Milliseconds since the epoch. */
  readonly loadedAt: number;
  readonly mappings: readonly string[];
  /** The address that hooks are sent to. */
  readonly hooksUrl: string;
}

export interface InboxPage {
  /** The newest row is first. */
  readonly rows: readonly InboxRow[];
  readonly hasMore: boolean;
  readonly state: ConsoleState;
  /** What became of the work that the page asked about. */
  readonly ends: readonly End[];
}

/** A stored request, with its exact payload. */
export interface ShownContent {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The payload as JSON text: the page reads its numbers exactly. */
  readonly payload: string;
}

/** A run, an event or a delivery, as `--json` of the command line has it. */
export type WorkJson = Readonly<Record<string, unknown>> & { readonly outbox?: readonly WorkJson[] };

export interface RequestPage {
  readonly id: string;
  readonly row?: InboxRow;
  /**
   * Decision, runs and events as `sluice explain ID --json` has them, how the request was judged when it
   * came, and what is said of it.
   */
  readonly stored: StoredJson;
  readonly content?: ShownContent;
  /** What each run will read about which somebody is asked; absent for who may not see what was sent. */
  readonly asked?: readonly string[];
  /** How the request would be judged now, or by the files of then; absent where it was not stored. */
  readonly now?: Judgement;
  /** The mappings and transforms that judged the request when it came made `now`, and have changed since. */
  readonly isByThen?: true;
  /** Why the request cannot be judged now: the files have errors. */
  readonly nowProblem?: string;
}

export interface DraftAnswer {
  readonly findings: readonly ShownFinding[];
  /** Absent where the draft has errors or no request is chosen. */
  readonly judgement?: Judgement;
}

export type SaveAnswer =
  /** `findings` keep the file from going live; what was live before goes on. */
  | { readonly kind: 'saved'; readonly version: string; readonly findings: number }
  /** The file on disk differs from the one that was opened. */
  | { readonly kind: 'changed'; readonly version: string };

export interface Completion {
  /** Where the text begins that a choice replaces. */
  readonly from: number;
  readonly options: readonly CompletionChoice[];
  /** The source of a regular expression: a text that is typed on within it needs no new completion. */
  readonly validFor: string;
}
