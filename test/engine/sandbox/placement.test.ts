import { expect, test } from 'vitest';
import type { ModuleJob, PooledModule } from '../../../src/engine/sandbox/host/job-queue.ts';
import { noteAnswer, Placement } from '../../../src/engine/sandbox/host/placement.ts';
import { pooledModule } from '../../support/sandbox-fixture.ts';

type Placed = Pick<ModuleJob, 'module' | 'isAlone'>;
interface Place {
  readonly jobs: Placed[];
}

/** A module that answered so often, after so many milliseconds each. */
function moduleWith(answers: number, ranMs: number): PooledModule {
  const module = pooledModule();
  for (let answer = 0; answer < answers; answer += 1) noteAnswer(module, ranMs, false);
  return module;
}

/** Places calls as long as there is room; returns how many each worker got. */
function fill(places: readonly Place[], module: PooledModule, reserved?: Place): number[] {
  const placement = new Placement(places, { count: places.length, reserved });
  for (let place = placement.pick({ module }); place !== undefined; place = placement.pick({ module })) {
    place.jobs.push({ module, isAlone: false });
  }
  return places.map(({ jobs }) => jobs.length);
}

const workers = (count: number): Place[] => Array.from({ length: count }, () => ({ jobs: [] }));

test('calls of a quick module queue deep, those of a slower one as many as are done soon, of a slow one four', () => {
  expect(fill(workers(2), moduleWith(100, 0.1))).toEqual([32, 32]);
  expect(fill(workers(2), moduleWith(100, 0.5))).toEqual([11, 11]);
  expect(fill(workers(2), moduleWith(100, 40))).toEqual([4, 4]);
});

test('a module that became slow queues no deeper from then on', () => {
  const module = moduleWith(100, 0.1);
  for (let answer = 0; answer < 8; answer += 1) noteAnswer(module, 30, false);
  expect(fill(workers(2), module)).toEqual([4, 4]);
});

test('nothing is queued behind a module that has not proven itself, and it leaves one worker to others', () => {
  const places = workers(3);
  expect(fill(places, moduleWith(15, 0.1))).toEqual([1, 1, 0]);
  expect(fill(places, moduleWith(100, 0.1))).toEqual([1, 1, 32]);
});

test('a worker that is kept free, or has a job that runs alone, takes nothing', () => {
  const places = workers(2);
  places[0]?.jobs.push({ module: moduleWith(100, 0.1), isAlone: true });
  expect(fill(places, moduleWith(100, 0.1), places[1])).toEqual([1, 0]);
});
