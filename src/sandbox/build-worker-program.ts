/** A step of the build: what workers run becomes one file of `dist`. */
import { writeWorkerProgram } from './host/worker-program.ts';

await writeWorkerProgram();
