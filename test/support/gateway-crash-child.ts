/**
 * A gateway on the store given as argument, to be killed by `gateway-recovery.test.ts`. Its runner is a command that
 * never ends and leaves its process group; its channel prints each chunk and hangs at the second.
 */
import { randomUUID } from 'node:crypto';
import { argv, env, stdout } from 'node:process';
import type { AgentAction, SafeText } from '../../src/base/action.ts';
import { createCommandRunner, createEchoRunner } from '../../src/service/runners/runners.ts';
import { Gateway } from '../../src/service/gateway/gateway.ts';
import { openStorage } from '../../src/engine/storage/storage.ts';
import { gatewaySettings } from './gateway-settings.ts';

const [, , file = '', seconds = ''] = argv;
const storage = await openStorage(`sqlite:${file}`);
const hang = createCommandRunner(
  {
    kind: 'command',
    argv: ['sh', '-c', `setsid sleep ${seconds} & sleep ${seconds}`],
    prompt: 'stdin',
    env: {},
    passEnv: [],
    retryExitCodes: [],
    maxReplyBytes: 1000,
  },
  env,
);
const gateway = new Gateway({
  storage,
  log: { info() {}, warn() {}, error() {} },
  configuration: {
    settings: {
      gateway: gatewaySettings({
        runner: 'hang',
        heartbeat: {
          everySeconds: 0,
          instructions: '',
          runner: 'hang',
        },
      }),
      agents: {
        defaults: {
          model: undefined,
          models: undefined,
          aliases: {},
          timeoutSeconds: 600,
          maxTimeoutSeconds: 3600,
        },
      },
      channels: { telegram: {} },
    },
    runners: new Map([
      ['hang', hang],
      ['echo', createEchoRunner()],
    ]),
    channels: {
      find: async (id) => ({
        id,
        maxChars: 12,
        check: async () => ({ ok: true, account: id }),
        send: async ({ text, key }) => {
          stdout.write(`chunk ${text}\n`);
          return key.endsWith(':1') ? new Promise(() => {}) : { kind: 'sent' };
        },
      }),
    },
  },
});

function action(change: Partial<AgentAction>): AgentAction {
  return {
    kind: 'agent',
    id: randomUUID(),
    prompt: 'prompt' as SafeText,
    message: 'hello',
    name: 'Test',
    sessionKey: `hook:${randomUUID()}`,
    owner: 'request',
    oneShot: true,
    wakeMode: 'next-heartbeat',
    deliver: false,
    channel: 'telegram',
    origin: { requestId: randomUUID(), path: 'test', trusted: false },
    ...change,
  };
}

await gateway.start();
await storage.accept({
  requestId: randomUUID(),
  receivedAt: Date.now(),
  warnings: [],
  actions: [
    action({ name: 'Interrupted', sessionKey: 'hook:key', oneShot: false }),
    action({ name: 'Behind', sessionKey: 'hook:key', oneShot: false }),
    action({
      name: 'Delivered',
      runner: 'echo',
      deliver: true,
      to: '1',
      message: 'first chunk second one third one',
    }),
    {
      kind: 'wake',
      id: randomUUID(),
      text: 'woken',
      mode: 'now',
      origin: { requestId: randomUUID(), path: 'wake', trusted: false },
    },
  ],
});
gateway.notify();
