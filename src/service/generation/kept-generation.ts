/* The files of a generation as the store keeps them, so that a request of yesterday is judged by yesterday's mappings. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { KeptFile, KeptGeneration } from '../../engine/storage/storage.ts';
import { sendersDir } from '../../engine/senders/senders.ts';
import {
  loadGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from './load-generation.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** A generation with more bytes is not kept. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The mappings, senders and transforms of a generation, without literal secrets; undefined where they are too large. */
export async function packGeneration({
  id,
  config,
  files,
  transforms,
}: Generation): Promise<KeptGeneration | undefined> {
  const { mappingsDir, transformsDir } = config.settings.hooks;
  const mappings = files.map((file) => ({
    name: nameIn(mappingsDir, file.path),
    text: withoutSecrets(file),
  }));
  const modules = await Promise.all(
    transforms.files.map(async (path) => ({
      name: nameIn(transformsDir, path),
      text: await readFile(path, 'utf8'),
    })),
  );
  const senders = files.map(({ path, text }) => ({ name: nameIn(sendersDir({ mappingsDir }), path), text }));
  const all = [
    ...mappings.map((file) => ({ folder: 'mappings' as const, ...file })),
    ...senders.map((file) => ({ folder: 'senders' as const, ...file })),
    ...modules.map((file) => ({ folder: 'transforms' as const, ...file })),
  ].flatMap(({ name, ...file }) => (name === undefined ? [] : [{ name, ...file }]));
  if (all.reduce((sum, { text }) => sum + text.length, 0) > MAX_BYTES) return undefined;
  return { id, files: await Promise.all(all.map(pack)) };
}

/** A path relative to its folder; undefined for presets and modules elsewhere, which are loaded from there. */
function nameIn(folder: string, path: string): string | undefined {
  const name = relative(folder, path);
  return name.startsWith('..') ? undefined : name.replaceAll(sep, '/');
}

/** A file without its literal secrets, which judging a request does not need. */
function withoutSecrets({ text, secrets = [] }: Generation['files'][number]): string {
  let kept = text;
  for (const { start, end } of secrets)
    kept = kept.slice(0, start) + kept.slice(start, end).replaceAll(/[^\s"'`]/g, 'x') + kept.slice(end);
  return kept;
}

async function pack({
  text,
  ...file
}: Pick<KeptFile, 'folder' | 'name'> & { readonly text: string }): Promise<KeptFile> {
  const hash = createHash('sha256').update(text).digest('hex');
  return { ...file, hash, content: (await deflate(text)).toString('base64') };
}

/** Generations with the same mappings and transforms judge alike. */
const namesOf = ({ files }: Pick<KeptGeneration, 'files'>): string =>
  JSON.stringify(files.map(({ folder, name, hash }) => `${folder} ${name} ${hash}`).toSorted());

/** What was live once, loaded beside what is live now: the configuration is today's. */
export interface OldGeneration extends LoadedGeneration {
  close(): Promise<void>;
}

/** Where kept files are loaded beside those of now. */
interface KeptOptions extends GenerationOptions {
  readonly hooks: Generation['config']['settings']['hooks'];
  /** Absent where the files of now have errors. */
  readonly now: Generation | undefined;
}

/**
 * Loads mappings and transforms that were kept, under the names that they had. Undefined where those of now are the
 * same, and where they cannot be loaded any more, for example as a runner is gone: then the files of now judge.
 */
export async function loadKeptGeneration(
  configFile: string,
  kept: KeptGeneration,
  { now, ...options }: KeptOptions,
): Promise<OldGeneration | undefined> {
  const packed = now && (await packGeneration(now));
  if (now !== undefined && namesOf(packed ?? { files: [] }) === namesOf(kept)) return undefined;
  return loadKept(configFile, kept, options).catch(() => undefined);
}

async function loadKept(
  configFile: string,
  { files }: KeptGeneration,
  { hooks, ...options }: Omit<KeptOptions, 'now'>,
): Promise<OldGeneration> {
  const cwd = await mkdtemp(join(tmpdir(), 'sluice-then-'));
  const placeOf = (folder: string): string => {
    const name = relative(process.cwd(), folder);
    return resolve(cwd, name.startsWith('..') ? basename(folder) : name);
  };
  const folders = { mappingsDir: placeOf(hooks.mappingsDir), transformsDir: placeOf(hooks.transformsDir) };
  const places = {
    mappings: folders.mappingsDir,
    senders: sendersDir(folders),
    transforms: folders.transformsDir,
  };
  const close = (): Promise<void> => rm(cwd, { recursive: true, force: true });
  try {
    await mkdir(folders.mappingsDir, { recursive: true });
    for (const { folder, name, content } of files) {
      const path = join(places[folder], name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await inflate(Buffer.from(content, 'base64')), { mode: 0o600 });
    }
    return { ...(await loadGeneration(configFile, { ...options, folders: { ...folders, cwd } })), close };
  } catch (error) {
    await close();
    throw error;
  }
}
