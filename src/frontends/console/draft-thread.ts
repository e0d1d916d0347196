/** A thread that reads the draft of a mapping file; `drafts.ts` starts and ends it. */
import { parentPort } from 'node:worker_threads';
import { advise } from '../../authoring/advice/advice.ts';
import { readDocument } from '../../base/document/document.ts';
import { type DraftFolder, shownFinding } from './shown-finding.ts';

/** What the thread is asked: a file of the copy. */
export interface ReadDraft extends DraftFolder {
  readonly file: string;
}

parentPort?.on('message', ({ file, ...folder }: ReadDraft) => {
  void readDocument(file, { cwd: folder.root }).then(({ findings }) => {
    const errors = findings.filter(({ severity }) => severity === 'error');
    parentPort?.postMessage(advise(errors).map((one) => shownFinding(one, folder)));
  });
});
parentPort?.postMessage('ready');
