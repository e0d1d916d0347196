import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_CONFIG_FILES } from '../../../engine/config/config.ts';
import type { Cli } from '../command-line.ts';
import { findOwnPackage, withSchemaLine } from './own-package.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { CASE_ATTRIBUTES } from './write-plan.ts';

const ECHO = `  # Answers with what the agent would have read. Put your agent here, for example:
  #   runner: {kind: claude}
  runner: echo`;

const FILES: readonly {
  readonly name: string;
  readonly text: (agent?: string) => string;
}[] = [
  {
    name: 'sluice.yaml',
    text: (agent) => `# yaml-language-server: $schema=sluice.schema.json
hooks:
  enabled: true
  # sluice serve wants a token; sluice dev makes one of its own where none is set.
  # token: \${SLUICE_HOOK_TOKEN}
  defaults:
    # A run leaves a line in the main session and wakes it, which is a turn of its own: here only one that failed does.
    # Without this line each run does.
    summary: failures
    # Of one mapping, and of one conversation; further runs wait. A sender that goes wild costs no more than this.
    limits: { runsPerHour: 60, runsPerHourAndSession: 20 }

gateway:
${agent === undefined ? ECHO : `  # Works in a folder of its own; "sluice runners check" tries it.\n  runner: {kind: ${agent}}`}
`,
  },
  {
    name: 'mappings/hello.yaml',
    text: () => `# yaml-language-server: $schema=mapping.schema.json
- id: hello
  match:
    path: hello
    when: { '!!': [{ var: name }] }
  name: Hello
  instructions: Greet this person in one line.
  messageTemplate: '{{name}} says: {{default text "nothing"}}'
`,
  },
  {
    name: 'test/golden/hello/ada.request.yaml',
    text: () => `# yaml-language-server: $schema=request.schema.json
path: hello
body: { name: Ada, text: Good morning }
`,
  },
  {
    name: 'transforms/hello.types.ts',
    text: () => `// Written by "sluice types hello" from samples: run it again where they change.

/** 1 sample. */
export type HelloPayload = {
  readonly name: string;
  readonly text: string;
};
`,
  },
];

const AUTHOR_TYPES = ['../../../engine/sandbox/author.d.ts', '../../../engine/sandbox/author.ts']
  .map((name) => fileURLToPath(new URL(name, import.meta.url)))
  .find((file) => existsSync(file));

/**
 * Writes rules for editors and `tsc` in a folder of transforms, as `sluice check` has them. Where the
 * project has no `sluice` of its own, its types are written beside them, because a path to this
 * installation would be wrong on every other machine.
 */
export function transformRules(folder: string): readonly { readonly path: string; readonly text: string }[] {
  const isOwn = findOwnPackage(folder) !== undefined || AUTHOR_TYPES === undefined;
  const compilerOptions = {
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    noEmit: true,
    strict: true,
    noImplicitAny: false,
    skipLibCheck: true,
    types: [],
    ...(isOwn ? {} : { paths: { sluice: ['./sluice.types.ts'] } }),
  };
  return [
    { path: join(folder, 'tsconfig.json'), text: `${JSON.stringify({ compilerOptions }, null, 2)}\n` },
    ...(isOwn ? [] : [{ path: join(folder, 'sluice.types.ts'), text: readFileSync(AUTHOR_TYPES, 'utf8') }]),
  ];
}

export interface InitFlags {
  readonly agent?: string;
  readonly skill?: boolean;
}

/** Writes a first configuration, mapping and golden case into a folder; what exists is never overwritten. */
export async function init(cli: Cli, folder = '.', { agent, skill }: InitFlags = {}): Promise<void> {
  const root = resolve(cli.terminal.cwd, folder);
  const isSetUp = skill === true && DEFAULT_CONFIG_FILES.some((name) => existsSync(join(root, name)));
  for (const { name, text } of isSetUp ? [] : FILES) {
    const file = join(root, name);
    await writeNew(cli.terminal, file, withSchemaLine(text(agent), dirname(file)));
  }
  if (!isSetUp) await writeNew(cli.terminal, join(root, 'test/golden/.gitattributes'), CASE_ATTRIBUTES);
  const transforms = join(root, 'transforms');
  for (const { path, text } of isSetUp ? [] : transformRules(transforms))
    await writeNew(cli.terminal, path, text);
  if (skill === true) await writeSkill(cli, root, agent);
  if (!isSetUp)
    cli.terminal.err(`next: "sluice test" writes what the golden case becomes, "sluice dev" serves it
a transform takes its payload as the type in transforms/hello.types.ts, made by "sluice types" from the golden case`);
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

/** @throws CliError where the file exists */
async function writeNew(terminal: Terminal, file: string, text: string): Promise<void> {
  const shown = relative(terminal.cwd, file);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new CliError(
      `${shown} exists already; nothing was overwritten. Name a new folder: sluice init FOLDER`,
    );
  });
  terminal.out(shown);
}
