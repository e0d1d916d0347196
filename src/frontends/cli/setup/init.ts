import { randomBytes } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hooksAddress, isOnPath } from '../../../engine/config/config.ts';
import { shippedSenders } from '../../../engine/senders/senders.ts';
import { defined } from '../../../base/json.ts';
import { createLogger } from '../../../base/telemetry/telemetry.ts';
import { startService } from '../../../service/startup/startup.ts';
import { openRecorder } from '../authoring/recorder.ts';
import { readDeliveries } from '../authoring/request-file.ts';
import { AGENTS, CHATS, type Cli } from '../command-line.ts';
import { configIn, loadSettings } from '../config-file.ts';
import { commandLine } from '../next-steps.ts';
import { originOf, sendRequests } from '../running/send.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { add, finish, isReady, noSenderText } from './add.ts';
import { withSchemaLine } from '../../../base/own-package.ts';
import { writePlan } from './write-plan.ts';

const TOKEN_FILE = '.sluice/secrets/hook-token';

const ECHO = `  # Answers with what the agent would have read. Put your agent here, for example:
  #   runner: {kind: claude}
  runner: echo`;

const SECRET = '{ file: .sluice/secrets/chat }';
/** What each chat needs, all but its secret. */
const CHAT_SETTINGS: Readonly<Record<string, string>> = {
  telegram: `botToken: ${SECRET}, to: '-1001234567890'`,
  slack: `botToken: ${SECRET}, to: C0123456`,
  discord: `botToken: ${SECRET}, to: '123456789012345678'`,
  whatsapp: `accessToken: ${SECRET}, phoneNumberId: '1234567890', to: '+15551234567'`,
  mattermost: `botToken: ${SECRET}, baseUrl: https://chat.example.com, to: 'user:ID'`,
} satisfies Record<(typeof CHATS)[number], string>;

const chatLines = (chat: string): string => `
# Where replies go. Write the secret into .sluice/secrets/chat, correct the rest, take out the two "# ", and
# "sluice channels check" says whether it works.
# channels:
#   ${chat}: { ${CHAT_SETTINGS[chat] ?? ''} }
`;

const FILES: Readonly<Record<string, (answers: InitFlags) => string>> = {
  'sluice.yaml': ({ agent, chat }) => `# yaml-language-server: $schema=sluice.schema.json
hooks:
  enabled: true
  # Senders without a signature need it, in "sluice dev" and in "sluice serve".
  token: { file: ${TOKEN_FILE} }
  defaults:
    # A run leaves a line in the main session and wakes it, which is a turn of its own: here only one that failed does.
    # Without this line each run does.
    summary: failures
    # Of one mapping, and of one conversation; further runs wait. A sender that goes wild costs no more than this.
    limits: { runsPerHour: 60, runsPerHourAndSession: 20 }

gateway:
${agent === undefined ? ECHO : `  # Works in a folder of its own; "sluice runners check" tries it.\n  runner: {kind: ${agent}}`}
${chat === undefined ? '' : chatLines(chat)}`,
  'mappings/hello.yaml': () => `# yaml-language-server: $schema=mapping.schema.json
- id: hello
  match:
    path: hello
    when: { '!!': [{ var: name }] }
  name: Hello
  instructions: Greet this person in one line.
  messageTemplate: '{{name}} says: {{default text "nothing"}}'
`,
  'test/golden/hello/ada.request.yaml': () => `# yaml-language-server: $schema=request.schema.json
path: hello
body: { name: Ada, text: Good morning }
`,
};

export interface InitFlags {
  readonly agent?: string;
  readonly sender?: string;
  readonly chat?: string;
  readonly skill?: boolean;
}

/** Writes a first configuration, mapping and golden case into a folder; what exists is never overwritten. */
export async function init(cli: Cli, folder = '.', flags: InitFlags = {}): Promise<void> {
  const root = resolve(cli.terminal.cwd, folder);
  const isSetUp = flags.skill === true && configIn(root) !== undefined;
  const { terminal } = cli;
  const isSaid = [flags.agent, flags.sender, flags.chat].some((each) => each !== undefined);
  const answers = isSetUp || isSaid || !terminal.interactive ? flags : await askForAnswers(terminal, flags);
  if (!isSetUp) await writeProject(cli, root, answers);
  if (flags.skill === true) await writeSkill(cli, root, answers.agent);
}

const NONE = 'none yet';

/** Offers what works without a further question: agents that are here, senders whose secret is made here. */
async function askForAnswers(terminal: Terminal, flags: InitFlags): Promise<InitFlags> {
  const ask = async (question: string, names: readonly string[]): Promise<string | undefined> => {
    const answer = await terminal.choose(question, [NONE, ...names]);
    if (answer === undefined) throw new CliError('nothing was written');
    return answer === NONE ? undefined : answer;
  };
  const senders = shippedSenders().filter(({ mapping, secret }) => mapping && secret?.from === 'made');
  return defined({
    ...flags,
    agent: await ask(
      'Which coding agent of this machine takes the turns?',
      AGENTS.filter((name) => isOnPath(name, terminal.env['PATH'])),
    ),
    sender: await ask(
      'Who sends? "sluice add" knows more.',
      senders.map(({ name }) => name),
    ),
    chat: await ask('Which chat do replies go to?', CHATS),
  });
}

async function writeProject(cli: Cli, root: string, answers: InitFlags): Promise<void> {
  const { terminal } = cli;
  const files = Object.entries(FILES).map(([name, text]) => {
    const path = join(root, name);
    return { path, text: withSchemaLine(text(answers), dirname(path)) };
  });
  const { sender } = answers;
  if (sender !== undefined && !shippedSenders().some((each) => each.name === sender && isReady(each)))
    throw new CliError(`${noSenderText(sender, shippedSenders())}; nothing was written`, 2);
  const existing = files.find(({ path }) => existsSync(path));
  if (existing !== undefined)
    throw new CliError(
      `${relative(terminal.cwd, existing.path)} exists already; nothing was written. Name a new folder: sluice init FOLDER`,
    );
  const config = join(root, 'sluice.yaml');
  const places = { root, mappings: join(root, 'mappings'), cases: join(root, 'test/golden') };
  const token = { file: TOKEN_FILE, value: randomBytes(32).toString('hex') };
  const plan = { files, secrets: [token], edits: [], steps: [] };
  const written = await writePlan(terminal, plan, places);
  await finish(cli, 'hello', { flags: { config }, places, plan, written });
  if (sender !== undefined) await add(cli, sender, { config });
  await answerOnce(cli, config, join(places.cases, 'hello/ada.request.yaml'));
}

/** Sends a case to a service that performs nothing and ends then, and says where the one that stays will be. */
async function answerOnce(cli: Cli, config: string, sample: string): Promise<void> {
  const { terminal } = cli;
  const recorder = openRecorder(terminal, { record: '.', mask: [], perform: false });
  const service = await startService({
    ...recorder?.serviceOptions,
    configFile: config,
    env: terminal.env,
    log: createLogger({ destination: { write: () => true } }),
    listen: { port: 0 },
    onFindings: () => undefined,
  });
  try {
    terminal.err(`\ntried: ${relative(terminal.cwd, sample)} is answered, and would start a run`);
    await sendRequests(cli, await readDeliveries(terminal, sample), { config, against: service.url });
  } finally {
    await service.stop();
    recorder?.close();
  }
  const { settings } = await loadSettings(terminal, { config });
  terminal.err(`There is one address; it is the same in "sluice dev" and in "sluice serve":
  ${hooksAddress(originOf(settings), settings)}/hello
next: ${commandLine(terminal, config, 'dev')}`);
}

const SKILL = fileURLToPath(new URL('../../../../skills/sluice', import.meta.url));
/**
 * Coding agents look for the skills of a project here: Claude Code in the second, and Codex, Gemini CLI and
 * opencode in the first, which is that of https://agentskills.io.
 */
const SKILL_PLACES = ['.agents/skills/sluice', '.claude/skills/sluice'] as const;

/** Copies the skill to where the agent looks, or to all places; an existing one stays as it is. */
async function writeSkill(cli: Cli, root: string, agent: string | undefined): Promise<void> {
  const places = SKILL_PLACES.filter(
    (place) => agent === undefined || place.startsWith('.claude') === (agent === 'claude'),
  ).map((place) => join(root, place));
  const free = places.filter((place) => !existsSync(place));
  for (const place of free) {
    await cp(SKILL, place, { recursive: true, filter: (file) => file !== join(SKILL, 'evals') });
    for (const file of globSync('**/*.*', { cwd: place }).toSorted())
      cli.terminal.out(relative(cli.terminal.cwd, join(place, file)));
  }
  for (const place of places.filter((one) => !free.includes(one)))
    cli.terminal.err(
      `${relative(cli.terminal.cwd, place)} exists already, and was left as it is; remove it to get the skill of this version`,
    );
  if (free.length === 0) cli.setExitCode(1);
}
