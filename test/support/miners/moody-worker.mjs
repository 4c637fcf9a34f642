// Stands in for a parser that fails: the first word of the source says how.
import { parentPort, threadId } from 'node:worker_threads';

parentPort.on('message', ({ source }) => {
  const text = Buffer.from(source).toString();
  if (text.startsWith('throw')) throw new Error('the parser broke');
  if (text.startsWith('exit')) process.exit(3);
  while (text.startsWith('hang'));
  if (text.startsWith('who')) {
    parentPort.postMessage(Uint8Array.from(Buffer.from(`thread ${threadId}`)));
    return;
  }
  parentPort.postMessage(Uint8Array.from(Buffer.from(`mined ${text}`)));
});
