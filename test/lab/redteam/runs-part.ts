/** Senders with the token whose runs ask for 31 years of an agent that hangs: they hold the places for a bounded time. */
import type { Part } from '../../support/parts.ts';
import { startAttacked, TOKEN } from './attacked-service.ts';

/** As many as there are places by default. */
const PLACES = 4;
const MOST_SECONDS = 5;
/** Ending a command and beginning the next run, on a busy machine. */
const SLACK_SECONDS = 10;

const GATEWAY = `agents: {defaults: {timeoutSeconds: 2, maxTimeoutSeconds: ${MOST_SECONDS}}}
gateway:
  maxRuns: ${PLACES}
  runner: {kind: command, prompt: stdin, argv: [sh, -c, 'if grep -q STAY-HERE; then exec sleep 600; fi; echo done']}
  heartbeat: {everySeconds: 0}
`;

export const runsPart: Part = {
  name: 'runs',
  run: async () => {
    const service = await startAttacked({ gateway: GATEWAY });
    const post = (body: object, prefer: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${service.port}/hooks/agent`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...prefer },
        body: JSON.stringify({ deliver: false, ...body }),
      });
    try {
      const taken = await Promise.all(
        Array.from({ length: PLACES }, () => post({ message: 'STAY-HERE', timeoutSeconds: 1e9 })),
      );
      const startedAt = performance.now();
      const good = await post({ message: 'good' }, { prefer: 'wait=60' });
      const seconds = (performance.now() - startedAt) / 1000;
      const isWell = good.status === 200 && (await good.text()).includes('"outcome":"ok"');
      return [
        {
          what: `${PLACES} hung runs that ask for 1e9 s, of a time of ${MOST_SECONDS} s at most`,
          figure: `answered ${taken.map(({ status }) => status).join(' ')}; a good run ${isWell ? 'ended well' : 'did not end well'} after ${seconds.toFixed(1)} s`,
          aim: {
            text: `well within ${MOST_SECONDS + SLACK_SECONDS} s`,
            met: isWell && seconds < MOST_SECONDS + SLACK_SECONDS,
          },
        },
      ];
    } finally {
      await service.stop();
    }
  },
};
