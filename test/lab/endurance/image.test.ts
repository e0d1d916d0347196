/** The container image: built as docs/operations says, and run as its own settings say, read-only and without a daemon. */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { copyOf } from '../../upgrade/releases.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
const TOKEN = 'image-token-of-more-than-32-letters';
const UID = 10_001;

const missing = ['mmdebstrap', 'umoci', 'bwrap', 'setpriv'].filter(
  (name) => !(process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name))),
);
const skipped =
  process.getuid?.() === 0
    ? missing.length === 0
      ? undefined
      : `${missing.join(', ')} missing`
    : 'needs root to give /state its owner';

interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly StopSignal: string;
}

describe.skipIf(skipped !== undefined)(
  `the container image${skipped ? ` (skipped: ${skipped})` : ''}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'));
    const state = join(folder, 'state');
    const config = join(folder, 'config');
    let image: ImageConfig;
    let port = 0;
    const running = new Set<ChildProcess>();

    beforeAll(async () => {
      execFileSync('chmod', ['755', folder]);
      await run(join(ROOT, 'image/build.sh'), [join(folder, 'out')], { timeout: 400_000 });
      mkdirSync(join(folder, 'oci'));
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
      await run('tar', ['-xf', join(folder, 'out', `sluice-${version}.oci.tar`), '-C', join(folder, 'oci')]);
      await run('umoci', ['unpack', '--image', `${join(folder, 'oci')}:${version}`, join(folder, 'bundle')]);
      await run('chmod', ['755', join(folder, 'bundle')]);
      image = configOf(join(folder, 'oci'));
      mkdirSync(join(config, 'mappings'), { recursive: true });
      mkdirSync(join(config, 'transforms'));
      mkdirSync(state);
      chownSync(state, UID, UID);
      writeFileSync(
        join(config, 'sluice.yaml'),
        `hooks: {enabled: true, token: ${TOKEN}}\nstorage: {url: 'sqlite:/state/store.db'}\n`,
      );
      writeFileSync(
        join(config, 'mappings/hello.yaml'),
        "id: hello\nmatch: {path: hello}\naction: wake\ntransform: {module: shout.ts}\ntextTemplate: '{{name}}'\n",
      );
      writeFileSync(
        join(config, 'transforms/shout.ts'),
        'export default ({ payload }: { payload: { name: string } }) => ({ text: `${payload.name.toUpperCase()}!` });\n',
      );
    }, 500_000);

    afterAll(() => {
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    /** Words that run a command in the image: read-only, as its user, with the network of this machine. */
    const inImage = (command: readonly string[]): string[] => {
      const mounts = `--ro-bind ${folder}/bundle/rootfs / --bind ${state} /state --ro-bind ${config} /config`;
      const words =
        `--reuid ${UID} --regid ${UID} --clear-groups bwrap ${mounts} --proc /proc --dev /dev --tmpfs /tmp ` +
        `--unshare-user --unshare-pid --unshare-ipc --as-pid-1 --uid ${UID} --gid ${UID} --die-with-parent ` +
        `--chdir ${image.WorkingDir} --clearenv --setenv SLUICE_PORT ${port}`;
      const env = image.Env.flatMap((line) => ['--setenv', ...line.split('=', 2)]);
      return words.split(' ').concat(env, command);
    };
    const exec = async (...command: string[]): Promise<string> =>
      (await run('setpriv', inImage(command), { timeout: 30_000 })).stdout;

    async function start(): Promise<{ stop(signal: NodeJS.Signals): Promise<void> }> {
      port = await freePort();
      const command = image.Cmd.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word));
      const words = [...image.Entrypoint, ...command, '--port', `${port}`];
      const child = spawn('setpriv', inImage(words), { stdio: ['ignore', 'ignore', 'pipe'] });
      running.add(child);
      let log = '';
      child.stderr.on('data', (part: Buffer) => (log += part.toString()));
      const ended = new Promise<void>((done) => child.once('exit', () => done()));
      await vi.waitFor(() => expect(log).toContain('"msg":"ready"'), { timeout: 30_000, interval: 100 });
      return {
        stop: async (signal) => {
          child.kill(signal);
          await ended;
          running.delete(child);
        },
      };
    }

    const send = (name: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/hooks/hello`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
        signal: AbortSignal.timeout(10_000),
      });

    test('is at most 320 MB unpacked, and everything in it but /state belongs to root', async () => {
      const { stdout } = await run('du', ['-sm', join(folder, 'bundle/rootfs')]);
      expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(320);
      const { stdout: owned } = await run('find', [join(folder, 'bundle/rootfs'), '!', '-uid', '0']);
      // The folder of apt belongs to its own user, and nobody can start apt.
      expect(
        owned
          .trim()
          .split('\n')
          .filter((file) => !file.includes('/var/lib/apt/')),
      ).toEqual([join(folder, 'bundle/rootfs/state')]);
      const { stdout: setuid } = await run('find', [
        join(folder, 'bundle/rootfs'),
        '-perm',
        '/6000',
        '-type',
        'f',
      ]);
      expect(setuid).toBe('');
    });

    test('says of itself what the Containerfile says', () => {
      const lines = readFileSync(join(ROOT, 'image/Containerfile'), 'utf8').split('\n');
      const said = (word: string): string =>
        lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? '';
      expect(image).toMatchObject({
        User: said('USER'),
        WorkingDir: said('WORKDIR'),
        Env: said('ENV').split(' '),
        Entrypoint: JSON.parse(said('ENTRYPOINT')) as unknown,
        Cmd: JSON.parse(said('CMD')) as unknown,
        Volumes: { [said('VOLUME')]: {} },
        ExposedPorts: { [said('EXPOSE')]: {} },
        StopSignal: said('STOPSIGNAL'),
      });
    });

    test('takes a hook through a transform, is healthy, and has the commands and a shell', async () => {
      const service = await start();
      expect((await send('ada')).status).toBe(200);
      await exec('sluice-health');
      expect(await exec('sluice', 'events', '--json')).toContain('ADA!');
      expect(
        await exec('sh', '-c', 'sluice check && id -u && (touch /new || echo read-only) 2>/dev/null'),
      ).toMatch(/\n(no findings|1 warning\n)[^]*10001\nread-only/);
      await service.stop('SIGTERM');
      await expect(exec('sluice-health')).rejects.toThrow();
    }, 90_000);

    test('loses nothing that it answered when it is killed', async () => {
      const first = await start();
      const answered: string[] = [];
      const load = Array.from({ length: 8 }, async (_, worker) => {
        for (let count = 0; ; count += 1) {
          const name = `kill-${worker}-${count}`;
          const answer = await send(name).catch(() => undefined);
          if (answer?.status !== 200) return;
          answered.push(`${name.toUpperCase()}!`);
        }
      });
      await vi.waitFor(() => expect(answered.length).toBeGreaterThan(200), { timeout: 20_000 });
      await first.stop('SIGKILL');
      await Promise.all(load);
      const second = await start();
      const events = await exec('sluice', 'events', '--json', '--limit', '100000');
      expect(answered.filter((text) => !events.includes(`"${text}"`) && !events.includes(text))).toEqual([]);
      await second.stop('SIGTERM');
    }, 90_000);

    test('goes on with the store of version 0.1.0', async () => {
      const left = copyOf('0.1.0');
      rmSync(state, { recursive: true });
      mkdirSync(state);
      await run('cp', [join(left.folder, 'store.db'), join(state, 'store.db')]);
      left.remove();
      await run('chown', ['-R', `${UID}:${UID}`, state]);
      const service = await start();
      expect((await send('after')).status).toBe(200);
      const runs = await exec('sluice', 'runs', '--json');
      expect(runs.match(/"completed"/g)?.length).toBeGreaterThanOrEqual(3);
      await service.stop('SIGTERM');
    }, 90_000);
  },
);

/** The settings of the only image in an OCI layout. */
function configOf(layout: string): ImageConfig {
  const blob = (digest: string): unknown =>
    JSON.parse(readFileSync(join(layout, 'blobs', ...digest.split(':')), 'utf8')) as unknown;
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    readonly manifests: readonly [{ readonly digest: string }];
  };
  const manifest = blob(index.manifests[0].digest) as { readonly config: { readonly digest: string } };
  return (blob(manifest.config.digest) as { readonly config: ImageConfig }).config;
}
