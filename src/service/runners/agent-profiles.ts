import type { AgentAccess } from '../../engine/config/config.ts';
import { type AgentReport, readClaude, readCodex, readGemini, readOpencode } from './agent-reports.ts';

/** A conversation as the agent's own command line names it. */
export interface AgentSession {
  /** Absent where the agent will name the conversation. */
  readonly id?: string;
  readonly isNew: boolean;
  /** True where nothing of the conversation is to be kept. */
  readonly isOneShot: boolean;
}

export interface AgentArguments {
  readonly session: AgentSession;
  readonly model: string | undefined;
  readonly thinking: string | undefined;
  /** The operator's own arguments. */
  readonly extra: readonly string[];
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
  /** Arguments and variables that limit the agent to an access; the operator's own come after them. */
  readonly access: Readonly<Record<AgentAccess, Permission>>;
  /** Whether Sluice names conversations, or the agent does. */
  readonly namesSessions: boolean;
  argv(options: AgentArguments): readonly string[];
  /** The command that logs the agent in again. */
  readonly login: string;
  /** Whether its report says what the turn cost in US dollars. */
  readonly tellsMoney: boolean;
  /** Reads the report; undefined where the output is none. */
  read(stdout: string): AgentReport | undefined;
  /** What the agent says of a conversation that it does not have, and of one that it has already. */
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

/** The sandbox as settings, because `exec resume` takes no `--sandbox`. Nobody can be asked, so all else is refused. */
function codexSandbox(mode: string): readonly string[] {
  return ['-c', `sandbox_mode="${mode}"`, '-c', 'approval_policy="never"'];
}

/** Tried with claude 2.1.330, codex 0.169.0, gemini 0.61.0 and opencode 1.18.33 (2026-11). */
export const AGENT_PROFILES = {
  claude: {
    variables: [...ANTHROPIC_KEYS, 'ANTHROPIC_BASE_URL', 'CLAUDE_CONFIG_DIR'],
    // Settings of the user cannot allow tools that are not there, or those of other servers.
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
      // The folder is new and empty, so the question whether to trust it is skipped.
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
    variables: [
      ...OPENCODE_KEYS,
      'OPENCODE_CONFIG',
      'OPENCODE_CONFIG_DIR',
      'XDG_CONFIG_HOME',
      'XDG_DATA_HOME',
      'XDG_CACHE_HOME',
      'XDG_STATE_HOME',
    ],
    // Without a setting it allows everything.
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

/** The model as a placeholder, which refuses a name that looks like an option: a sender may have chosen it. */
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

/** Statuses of a model's server that say "later", and what agents print of these and of limits of accounts. */
const LATER_STATUS = new Set([429, 503, 529]);
const LATER =
  /\b(?:status|error):? (?:429|503|529)\b|rate.?limit|usage limit|hit your (?:\w+ )?limit|limit reached|exceeded your current quota|exhausted your (?:\w+ )?quota|RESOURCE_EXHAUSTED|credit balance is too low|overloaded/i;
const LOGGED_OUT =
  /\b(?:status|error):? 401\b|not logged in|run \/login|invalid api key|token (?:has expired|revoked)|token could not be refreshed|sign(?:ing)? in again|set an auth method|UNAUTHENTICATED/i;

/** Why an agent takes no turn at present, by its own error and the status of its model's server: each passes on what that says. */
export function whyNotNow(error: string, status = 0): 'logged-out' | 'later' | undefined {
  if (status === 401 || LOGGED_OUT.test(error)) return 'logged-out';
  return LATER_STATUS.has(status) || LATER.test(error) ? 'later' : undefined;
}
