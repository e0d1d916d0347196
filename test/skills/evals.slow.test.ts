/** The tasks for agents: who does right passes each, who loosens a proof or guesses a payload passes none. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { act, type Way } from '../fixtures/scripted-agent.ts';
import { type Agent, runTask, type Task, TASKS } from '../support/skill-evals.ts';

const AGENT = join(import.meta.dirname, '../fixtures/scripted-agent.ts');

/** The first task is given to a process, as to an agent that is installed; the others are done here. */
const scripted = (way: Way, task: Task): Agent =>
  task === TASKS[0] ? [process.execPath, AGENT, way] : (prompt, folder) => act(way, prompt, folder);

test('there are twelve tasks, in the form of the format, each with files that exist and checks', () => {
  expect(TASKS).toHaveLength(12);
  expect(new Set(TASKS.map(({ id }) => id)).size).toBe(12);
  for (const { prompt, expected_output: expected, files, assertions, checks } of TASKS) {
    expect(Math.min(prompt.length, expected.length, assertions.length)).toBeGreaterThan(0);
    expect(checks.length).toBeGreaterThan(1);
    const missing = files.filter(
      (file) => !existsSync(join(import.meta.dirname, '../../skills/sluice', file)),
    );
    expect(missing).toEqual([]);
  }
});

test.each(TASKS)('$id: who does right passes', async (task) => {
  expect(await runTask(task, scripted('right', task))).toEqual([]);
});

/** Tasks that the wrong way fulfils, but for a proof that it takes away or a trust that it gives. */
const LOOSENED = ['refused-401', 'hostile-sample', 'leave-out-a-bot'];

test.each(TASKS)('$id: who does wrong is found', async (task) => {
  const failed = await runTask(task, scripted('wrong', task));
  expect(failed).not.toEqual([]);
  expect(failed.some((check) => 'unchanged' in check)).toBe(LOOSENED.includes(task.id));
});
