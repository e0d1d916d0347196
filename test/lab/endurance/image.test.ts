/**
 * The container image: `deploy/Dockerfile` built without a daemon, and run as its own settings say, read-only. In the place
 * of the published `node:24-slim` stands one made here: Debian, the project's own Node, and this machine's npm.
 */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

const missing = ['mmdebstrap', 'buildah', 'bwrap', 'setpriv'].filter(
  (name) => !(process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name))),
);
const skipped =
  process.getuid?.() === 0
    ? missing.length === 0
      ? undefined
      : `${missing.join(', ')} missing`
    : 'needs root to give /state its owner';

/** Certificates of this machine, which the build needs where a registry is reached through a proxy. */
const CERTIFICATES = '/etc/ssl/certs';

interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly StopSignal: string;
}

describe.skipIf(skipped !== undefined)(
  `the container image${skipped ? ` (skipped: ${skipped})` : ''}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'));
    const state = join(folder, 'state');
    const config = join(folder, 'config');
    let image: ImageConfig;
    let rootfs = '';
    let port = 0;
    const running = new Set<ChildProcess>();

    beforeAll(async () => {
      execFileSync('chmod', ['755', folder]);
      await makeBase();
      const build = `bud --isolation chroot --network host --pull-never --format docker --volume ${CERTIFICATES}:${CERTIFICATES}:ro`;
      await buildah(`${build} --file ${ROOT}/deploy/Dockerfile --tag sluice ${ROOT}`);
      const [container = ''] = (await buildah('from --pull-never sluice')).split('\n');
      image = (JSON.parse(await buildah(`inspect ${container}`)) as { Docker: { config: ImageConfig } })
        .Docker.config;
      rootfs = (await buildah(`mount ${container}`)).trim();
      // Only root goes through the folders of buildah.
      await run('cp', ['-a', rootfs, join(folder, 'rootfs')]);
      rootfs = join(folder, 'rootfs');
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
    }, 1_200_000);

    afterAll(() => {
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    const buildah = async (words: string): Promise<string> =>
      (
        await run(
          'buildah',
          `--root ${folder}/store --runroot ${folder}/run --storage-driver vfs ${words}`.split(' '),
          { timeout: 600_000, maxBuffer: 64 * 1024 * 1024 },
        )
      ).stdout;

    async function makeBase(): Promise<void> {
      const [tree, npm] = [join(folder, 'base.tar'), join(folder, 'node')];
      const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter(existsSync);
      const options = ['--quiet', '--variant=minbase', '--include=ca-certificates', '--format=tar'];
      await run('mmdebstrap', [...options, 'bookworm', tree, ...sources.slice(0, 1)], { timeout: 400_000 });
      mkdirSync(join(npm, 'usr/local/bin'), { recursive: true });
      mkdirSync(join(npm, 'usr/local/lib/node_modules'), { recursive: true });
      copyFileSync(process.execPath, join(npm, 'usr/local/bin/node'));
      const found =
        (process.env['PATH'] ?? '').split(':').find((each) => existsSync(join(each, 'npm'))) ?? '';
      const from = resolve(realpathSync(join(found, 'npm')), '../..');
      await run('cp', ['-r', from, join(npm, 'usr/local/lib/node_modules/npm')]);
      symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(npm, 'usr/local/bin/npm'));
      const container = (await buildah('from scratch')).trim();
      await buildah(`add ${container} ${tree} /`);
      await buildah(`add ${container} ${npm} /`);
      const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
      const trust = `${CERTIFICATES}/ca-certificates.crt`;
      await buildah(`config --env PATH=${path} --env NODE_EXTRA_CA_CERTS=${trust} ${container}`);
      await buildah(`commit --rm ${container} docker.io/library/node:24-slim`);
    }

    /** Words that run a command in the image: read-only, as its user, with the network of this machine. */
    const inImage = (command: readonly string[]): string[] => {
      const mounts = `--ro-bind ${rootfs} / --bind ${state} /state --ro-bind ${config} /config`;
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

    test('everything in it but /state belongs to root, and nobody becomes another user by it', async () => {
      const { stdout: size } = await run('du', ['-sm', '--apparent-size', join(rootfs, 'opt/sluice')]);
      expect(Number.parseInt(size, 10)).toBeLessThanOrEqual(110);
      const { stdout: owned } = await run('find', [rootfs, '-uid', `${UID}`]);
      expect(owned.trim().split('\n')).toEqual([join(rootfs, 'state')]);
      expect(image).toMatchObject({
        User: `${UID}:${UID}`,
        Volumes: { '/state': {} },
        StopSignal: 'SIGTERM',
      });
    });

    const health = (): Promise<string> => exec(...image.Healthcheck.Test.slice(1));

    test('takes a hook through a transform, is healthy, and has the commands and a shell', async () => {
      const service = await start();
      expect((await send('ada')).status).toBe(200);
      await health();
      expect(await exec('sluice', 'events', '--json')).toContain('ADA!');
      expect(
        await exec('sh', '-c', 'sluice check && id -u && (touch /new || echo read-only) 2>/dev/null'),
      ).toMatch(/\n(no findings|1 warning\n)[^]*10001\nread-only/);
      await service.stop('SIGTERM');
      await expect(health()).rejects.toThrow();
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
