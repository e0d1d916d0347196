import { readJson } from '../json.ts';
import { field, textField } from '../outgoing/outgoing.ts';
import type { AgentAccess } from '../config/config.ts';
import type { TokenUsage } from '../storage/storage.ts';

/** A conversation as the agent's own command line names it. */
export interface AgentSession {
  /** Absent where the agent will name it. */
  readonly id?: string;
  readonly isNew: boolean;
  /** True where nothing of it is to be kept. */
  readonly isOneShot: boolean;
}

export interface AgentArguments {
  readonly session: AgentSession;
  readonly model: string | undefined;
  readonly thinking: string | undefined;
  /** The operator's own. */
  readonly extra: readonly string[];
}

/** What an agent printed. */
export interface AgentReport {
  readonly reply: string;
  /** What went wrong, in the agent's words; absent where nothing did. */
  readonly error?: string | undefined;
  readonly usage?: TokenUsage | undefined;
  /** The name the agent gave the conversation. */
  readonly sessionId?: string | undefined;
  /** The status its model's server answered with, where an error tells it. */
  readonly status?: number | undefined;
  /** Whether its model has said or done anything before an error; absent where the agent does not tell. */
  readonly hasActed?: boolean | undefined;
}

/** An access in an agent's own words. */
export interface Permission {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How one agent's command line is used without a terminal. The prompt goes to its standard input. */
export interface AgentProfile {
  /** Variables with its keys, its server and its folders; passed on where they are set. */
  readonly variables: readonly string[];
  /** Those of them that hold a key. */
  readonly keys: readonly string[];
  /** What makes the agent keep to an access, before the operator's own arguments and variables. */
  readonly access: Readonly<Record<AgentAccess, Permission>>;
  /** Whether Sluice names conversations, or the agent does. */
  readonly namesSessions: boolean;
  argv(options: AgentArguments): readonly string[];
  /** The command that logs it in again. */
  readonly login: string;
  /** Whether its report says what the turn cost in US dollars. */
  readonly tellsMoney: boolean;
  /** Undefined where the output is no report. */
  read(stdout: string): AgentReport | undefined;
  /** What it says of a conversation it does not have, and of one that it has already. */
  readonly unknownSession: RegExp;
  readonly knownSession?: RegExp;
}

const ANTHROPIC_KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'];
const OPENAI_KEYS = ['CODEX_API_KEY', 'OPENAI_API_KEY'];
const GOOGLE_KEYS = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];

const OPENCODE_KEYS = [...ANTHROPIC_KEYS, 'OPENAI_API_KEY', ...GOOGLE_KEYS, 'OPENROUTER_API_KEY'];

const OPENCODE_READ = { read: 'allow', glob: 'allow', grep: 'allow', list: 'allow' };

function opencodePermission(rules: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { OPENCODE_PERMISSION: JSON.stringify(rules) };
}

/** As settings, because `exec resume` takes no `--sandbox`. What is not allowed is refused, as nobody can be asked. */
function codexSandbox(mode: string): readonly string[] {
  return ['-c', `sandbox_mode="${mode}"`, '-c', 'approval_policy="never"'];
}

/** Tried with claude 2.1.330, codex 0.169.0, gemini 0.61.0 and opencode 1.18.33 (2026-11). */
export const AGENT_PROFILES = {
  claude: {
    keys: ANTHROPIC_KEYS,
    variables: [...ANTHROPIC_KEYS, 'ANTHROPIC_BASE_URL', 'CLAUDE_CONFIG_DIR'],
    // Tools that are not there cannot be allowed by settings of the user; nor can those of other servers.
    access: {
      read: { argv: ['--permission-mode', 'default', '--strict-mcp-config', '--tools', 'Read,Glob,Grep'] },
      edit: {
        argv: [
          '--permission-mode',
          'acceptEdits',
          '--strict-mcp-config',
          '--tools',
          'Read,Glob,Grep,Edit,Write',
        ],
      },
      full: { argv: ['--dangerously-skip-permissions'] },
    },
    namesSessions: true,
    argv: ({ session, model, thinking, extra }) => [
      '-p',
      '--output-format',
      'json',
      ...(session.isOneShot ? ['--no-session-persistence'] : []),
      ...(session.isOneShot ? [] : [session.isNew ? '--session-id' : '--resume', session.id ?? '']),
      ...modelOption(model),
      ...option('--effort', effortOf(thinking)),
      ...extra,
    ],
    login: 'claude /login',
    tellsMoney: true,
    read: readClaude,
    unknownSession: /No conversation found with session ID/,
    knownSession: /Session ID \S+ is already in use/,
  },
  codex: {
    keys: OPENAI_KEYS,
    variables: [...OPENAI_KEYS, 'CODEX_HOME'],
    access: {
      read: { argv: codexSandbox('read-only') },
      edit: { argv: codexSandbox('workspace-write') },
      full: { argv: codexSandbox('danger-full-access') },
    },
    namesSessions: false,
    argv: ({ session, model, thinking, extra }) => [
      ...(session.isNew ? ['exec'] : ['exec', 'resume']),
      '--json',
      '--skip-git-repo-check',
      ...(session.isOneShot ? ['--ephemeral'] : []),
      ...modelOption(model),
      ...option('-c', codexEffort(thinking)),
      ...extra,
      ...(session.isNew ? [] : [session.id ?? '']),
      '-',
    ],
    login: 'codex login',
    tellsMoney: false,
    read: readCodex,
    unknownSession: /no rollout found for thread id/,
  },
  gemini: {
    keys: GOOGLE_KEYS,
    variables: [
      ...GOOGLE_KEYS,
      'GOOGLE_GEMINI_BASE_URL',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_CLOUD_LOCATION',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'GOOGLE_GENAI_USE_VERTEXAI',
      'GEMINI_CLI_HOME',
    ],
    access: {
      read: { argv: ['--approval-mode', 'plan'] },
      edit: { argv: ['--approval-mode', 'auto_edit'] },
      full: { argv: ['--approval-mode', 'yolo'] },
    },
    namesSessions: true,
    argv: ({ session, model, extra }) => [
      // The folder is new and empty: there is nothing in it that could be mistrusted.
      '--output-format',
      'json',
      '--skip-trust',
      session.isNew ? '--session-id' : '--resume',
      session.id ?? '',
      ...modelOption(model),
      ...extra,
    ],
    login: 'gemini',
    tellsMoney: false,
    read: readGemini,
    unknownSession: /Invalid session identifier|No previous sessions found/,
    knownSession: /Session ID "\S+" already exists/,
  },
  opencode: {
    keys: OPENCODE_KEYS,
    variables: [
      ...OPENCODE_KEYS,
      'OPENCODE_CONFIG',
      'OPENCODE_CONFIG_DIR',
      'XDG_CONFIG_HOME',
      'XDG_DATA_HOME',
      'XDG_CACHE_HOME',
      'XDG_STATE_HOME',
    ],
    // Without a word it allows everything.
    access: {
      read: { argv: [], env: opencodePermission({ '*': 'deny', ...OPENCODE_READ }) },
      edit: { argv: [], env: opencodePermission({ '*': 'deny', ...OPENCODE_READ, edit: 'allow' }) },
      full: { argv: [], env: opencodePermission({ '*': 'allow' }) },
    },
    namesSessions: false,
    argv: ({ session, model, thinking, extra }) => [
      'run',
      '--format',
      'json',
      ...(session.isNew ? [] : ['--session', session.id ?? '']),
      ...modelOption(model),
      ...option('--variant', effortOf(thinking)),
      ...extra,
    ],
    login: 'opencode auth login',
    tellsMoney: true,
    read: readOpencode,
    unknownSession: /Session not found/,
  },
} as const satisfies Readonly<Record<string, AgentProfile>>;

function option(flag: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [flag, value];
}

/** As a placeholder, which refuses a name that would be read as an option: it may come from a sender. */
function modelOption(model: string | undefined): readonly string[] {
  return option('--model', model === undefined ? undefined : '{model}');
}

/** The levels that agents share; `off` and `minimal` are left to their own default. */
function effortOf(thinking: string | undefined): string | undefined {
  return thinking !== undefined && ['low', 'medium', 'high'].includes(thinking) ? thinking : undefined;
}

function codexEffort(thinking: string | undefined): string | undefined {
  const effort = effortOf(thinking);
  return effort === undefined ? undefined : `model_reasoning_effort="${effort}"`;
}

function readClaude(stdout: string): AgentReport | undefined {
  const report = lastObject(stdout);
  const reply = textField(report, 'result');
  if (reply === undefined) return undefined;
  const usage = field(report, 'usage');
  const failed = field(report, 'is_error') === true;
  // Of a turn that failed before its model answered, no tokens were counted.
  const hasActed = field(usage, 'output_tokens') !== 0 || field(report, 'num_turns') !== 1;
  const status = numberField(report, 'api_error_status');
  return {
    reply: failed ? '' : reply,
    usage: used({ ...usageOf(usage), costUsd: field(report, 'total_cost_usd') }),
    ...(failed ? { error: reply, status, hasActed } : {}),
  };
}

function readCodex(stdout: string): AgentReport | undefined {
  const events = objectLines(stdout);
  if (events.length === 0) return undefined;
  const items = events.map((event) => field(event, 'item'));
  const texts = items.filter(isOf('agent_message')).map(textOf);
  const started = events.find(isOf('thread.started'));
  const completed = events.findLast(isOf('turn.completed'));
  const failure = events.find(isOf('turn.failed'));
  return {
    reply: texts.at(-1) ?? '',
    sessionId: textField(started, 'thread_id'),
    usage: used(usageOf(field(completed, 'usage'))),
    error: failure === undefined ? undefined : (textField(field(failure, 'error'), 'message') ?? 'no reason'),
    hasActed: items.some((item) => item !== undefined && !isOf('error')(item)),
  };
}

/** Its exit code, and the code of its error, where it could not log in: nothing was asked for yet. */
const GEMINI_NO_LOGIN = 41;

function readGemini(stdout: string): AgentReport | undefined {
  const report = lastObject(stdout);
  const error = textField(field(report, 'error'), 'message');
  const reply = textField(report, 'response');
  if (reply === undefined && error === undefined) return undefined;
  const code = numberField(field(report, 'error'), 'code');
  const isLogin = code === GEMINI_NO_LOGIN;
  const models = field(field(report, 'stats'), 'models');
  const tokens = Object.values(models ?? {}).map((model) => field(model, 'tokens'));
  const usage = used({
    inputTokens: sumOf(tokens, 'prompt'),
    outputTokens: sumOf(tokens, 'candidates'),
  });
  return {
    reply: reply ?? '',
    error,
    usage,
    ...(isLogin ? { status: 401, hasActed: false } : { status: code }),
  };
}

function readOpencode(stdout: string): AgentReport | undefined {
  const events = objectLines(stdout);
  if (events.length === 0) return undefined;
  const parts = events.map((event) => field(event, 'part'));
  const texts = parts.filter(isOf('text')).map(textOf);
  const failure = field(events.find(isOf('error')), 'error');
  const name = textField(failure, 'name');
  const said = textField(field(failure, 'data'), 'message') ?? name;
  const steps = parts.filter(isOf('step-finish'));
  const tokens = steps.map((step) => field(step, 'tokens'));
  return {
    reply: texts.join('\n\n'),
    sessionId: textField(events[0], 'sessionID'),
    // Each step tells its own.
    usage: used({
      inputTokens: sumOf(tokens, 'input'),
      outputTokens: sumOf(tokens, 'output'),
      costUsd: sumOf(steps, 'cost'),
    }),
    error: failure === undefined ? undefined : (said ?? 'no reason'),
    status: name === 'ProviderAuthError' ? 401 : numberField(field(failure, 'data'), 'statusCode'),
    hasActed: parts.some((part) => isOf('text')(part) || isOf('tool')(part)),
  };
}

function numberField(value: unknown, name: string): number | undefined {
  const number = field(value, name);
  return typeof number === 'number' ? number : undefined;
}

const isOf =
  (type: string) =>
  (value: unknown): boolean =>
    field(value, 'type') === type;

const textOf = (item: unknown): string => textField(item, 'text') ?? '';

type Told = Readonly<Partial<Record<keyof TokenUsage, unknown>>>;

function usageOf(usage: unknown): Told {
  return { inputTokens: field(usage, 'input_tokens'), outputTokens: field(usage, 'output_tokens') };
}

/** What is a number of it; undefined where nothing is. */
function used(told: Told): TokenUsage | undefined {
  const numbers = Object.entries(told).filter(
    ([, value]) => typeof value === 'number' && value >= 0 && value < Infinity,
  );
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
}

/** Undefined where none of them has such a number. */
function sumOf(parts: readonly unknown[], name: string): number | undefined {
  const numbers = parts.flatMap((part) => numberField(part, name) ?? []);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, each) => sum + each, 0);
}

/** The JSON object that the output is or ends with; warnings may stand before it. */
function lastObject(stdout: string): unknown {
  return (
    parse(stdout) ?? parse(stdout.slice(Math.max(stdout.indexOf('\n{') + 1, 0))) ?? objectLines(stdout).at(-1)
  );
}

function objectLines(stdout: string): readonly unknown[] {
  return stdout.split('\n').flatMap((line) => (line.startsWith('{') ? (parse(line) ?? []) : []));
}

function parse(text: string): object | undefined {
  const value = readJson(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}
