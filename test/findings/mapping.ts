import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { advise } from '../../src/authoring/advice/advice.ts';
import { LOOKS } from '../../src/authoring/advice/rules.ts';
import { readDocument } from '../../src/base/document/document.ts';
import { OPENCLAW } from '../../src/engine/config/openclaw/behaviours.ts';
import type { Finding, LocatedValue } from '../../src/base/document/document.ts';
import { loadMappings } from '../../src/engine/mapping/mapping.ts';
import { otherKey } from '../../src/engine/senders/senders.ts';

/** What mapping files give to look at. */
const KINDS = ['mapping', 'mappings', 'condition', 'template'];

export const codes = [
  'CHALLENGE_INCOMPLETE',
  'CONDITION_ARITY',
  'CONDITION_LOG',
  'CONDITION_NOT_A_RULE',
  'CONDITION_NOT_ONE_OPERATOR',
  'CONDITION_TOO_DEEP',
  'CONDITION_UNKNOWN_OPERATOR',
  'DUPLICATE_MAPPING_ID',
  'FOREIGN_PATH',
  'HEADER_NAME_CASE',
  'INSTRUCTIONS_NOT_LITERAL',
  'INVALID_CALLBACK_URL',
  'INVALID_DEBOUNCE',
  'INVALID_FOR_EACH',
  'INVALID_MAPPING_PATH',
  'INVALID_RECIPIENT',
  'INVALID_STARTED_BY',
  'KEY_ESCAPED',
  'ITEM_WITHOUT_FOR_EACH',
  'MAIN_SESSION_KEY',
  'MAPPING_FILE_PASSED_OVER',
  'MAPPING_FILE_SHAPE',
  'MODEL_NOT_ALLOWED',
  'NOT_LITERAL',
  'OPENCLAW_SHARED_CONVERSATIONS',
  'PATH_SETTINGS_DIFFER',
  'PATH_SETTINGS_WITHOUT_PATH',
  'PROOF_NOT_COVERING',
  'REFERENCE_NOT_REPLACED',
  'RESERVED_PATH',
  'SESSION_KEY_REFUSED',
  'SESSION_KEY_WITHOUT_ID',
  'TEMPLATE_FOREIGN_SYNTAX',
  'TEMPLATE_HELPER_USAGE',
  'TEMPLATE_NOT_SUPPORTED',
  'TEMPLATE_SYNTAX',
  'TEMPLATE_TOO_LONG',
  'TEMPLATE_UNKNOWN_DATA',
  'TEMPLATE_UNKNOWN_HELPER',
  'TOKEN_CARRIER_READ',
  'UNKNOWN_CHANNEL',
  'UNKNOWN_RUNNER',
  'UNKNOWN_AGENT_ID',
  'UNKNOWN_THINKING',
  'UNKNOWN_WORK_FOLDER',
  'UNREACHABLE_MAPPING',
  'UNSAFE_CONTENT_ALLOWED',
  'UNTRUSTED_ROUTING',
  'VERIFY_SECRET',
  'WRONG_TEMPLATE_KEY',
  ...LOOKS.filter(({ on }) => KINDS.includes(on)).flatMap(({ codes: own }) => own),
];

/** The YAML files of a case are its mapping files; `openclaw.json5` holds mappings of such a file. */
export async function check(folder: string): Promise<readonly Finding[]> {
  if (basename(folder) !== 'TEMPLATE_TOO_LONG') return checkFolder(folder);
  const temporary = await mkdtemp(join(tmpdir(), 'sluice-'));
  try {
    const lines = '  {{ref}} and the rest of a line of text\n'.repeat(2000);
    await writeFile(join(temporary, 'long.yaml'), `match: {path: github}\nmessageTemplate: |\n${lines}`);
    return await checkFolder(temporary);
  } finally {
    await rm(temporary, { recursive: true });
  }
}

const HOOK_KEYS = { allowFromRequest: false, allowedPrefixes: ['hook:'] };

async function checkFolder(folder: string): Promise<readonly Finding[]> {
  const { findings, subjects } = await loadMappings({
    inline: (await readInline(join(folder, 'openclaw.json5'), folder)).map((value) => ({
      value,
      behaviours: OPENCLAW,
    })),
    mappingsDir: folder,
    presets: [],
    cwd: folder,
    models: ['anthropic/claude-opus-4-8', 'openai/gpt-6'],
    aliases: { opus: 'anthropic/claude-opus-4-8' },
    runners: ['default', 'echo', 'claude'],
    defaultRunner: 'codex',
    workFolders: ['web', 'api'],
    agents: ['main', 'ops'],
    ...(basename(folder) === 'SESSION_KEY_REFUSED' ? { sessionKeys: HOOK_KEYS } : {}),
    ...(basename(folder) === 'VERIFY_SECRET' ? { resolveReference: resolveForTest } : {}),
    // As `check` does: what is not set is no finding.
    ...(basename(folder) === 'VERIFY_SECRET-quotes' ? { peekReference: resolveForTest } : {}),
    ...(basename(folder) === 'VERIFY_SECRET-foreign' ? { peekReference: foreignSecret } : {}),
    otherKey,
    recipientProblem: (channel, to) =>
      channel === 'slack' && !/^(?:#[a-z]+|[CDGU][A-Z0-9]{7,})$/.test(to)
        ? 'expected an id such as C0123456'
        : undefined,
  });
  return advise(findings, subjects);
}

/** Texts with the form of other credentials, none of which is one. */
const FOREIGN: Readonly<Record<string, string>> = {
  '${TELEGRAM_BOT_TOKEN}': '7012345678:not-the-token-of-any-bot-0000000000000',
  '${STRIPE_API_KEY}': ['sk', 'test', 'notakeyofanyone'].join('_'),
  '${LOGIN}': 'azdo:a password',
  '${OF_OWN_CHOICE}': 'xoxb-of-own-choice',
};

function foreignSecret(reference: string | { readonly file: string }): string | undefined {
  return typeof reference === 'string' ? FOREIGN[reference] : undefined;
}

function resolveForTest(reference: string | { readonly file: string }): string | undefined {
  if (reference === '${SECRET_IN_QUOTES}') return '"e7f0a1"';
  return reference === '${SECRET_THAT_IS_NOT_BASE64}' ? 'whsec_not base64' : undefined;
}

async function readInline(file: string, cwd: string): Promise<readonly LocatedValue[]> {
  if (!existsSync(file)) return [];
  const { document } = await readDocument(file, { cwd });
  const list = document?.root.value;
  return Array.isArray(list) && document !== undefined
    ? list.map((_, index) => document.root.at([index]))
    : [];
}
