import { readJournal } from './journal.mjs';

const examplesMax = 5;

/**
 * Holds what receivers wrote down against what senders wrote down. `senders` and `receivers`: journals by
 * agent id. Resolves with counts and with claims, `{ name, holds, detail }`.
 */
export function judge({ senders, receivers }) {
  const sent = new Map();
  const counts = { sent: 0, accepted: 0, processed: 0, duplicates: 0, redelivered: 0 };
  for (const [from, file] of senders) {
    for (const [what, number, ...rest] of readJournal(file)) {
      const key = `${from} m-${number}`;
      if (what === 'SEND') {
        const [to, digest] = rest;
        sent.set(key, { number: Number(number), from, to, digest, seqs: new Set(), accepted: 0 });
      } else {
        const message = sent.get(key);
        message.accepted += 1;
        message.seqs.add(rest[0]);
      }
    }
  }
  const wrong = { unsent: [], damaged: [], twice: [], late: [], lateSeq: [], lost: [], open: [] };
  const processed = new Set();
  for (const [to, file] of receivers) {
    const lastOf = new Map();
    for (const [from, id, seq, attempt, digest] of readJournal(file)) {
      const key = `${from} ${id}`;
      const message = sent.get(key);
      if (message === undefined || message.to !== to) {
        wrong.unsent.push(`${key} at ${to}`);
        continue;
      }
      if (message.digest !== digest) wrong.damaged.push(`${key} at ${to}`);
      if (Number(attempt) > 1) counts.redelivered += 1;
      message.seqs.add(seq);
      if (processed.has(key)) {
        counts.duplicates += 1;
        continue;
      }
      processed.add(key);
      const last = lastOf.get(from);
      if (last !== undefined && last.number > message.number)
        wrong.late.push(`${key} after m-${last.number} at ${to}`);
      if (last !== undefined && last.seq > Number(seq))
        wrong.lateSeq.push(`${key} as ${seq} after ${last.seq} at ${to}`);
      lastOf.set(from, { number: message.number, seq: Number(seq) });
    }
  }
  for (const [key, { accepted, seqs }] of sent) {
    if (accepted > 0) counts.accepted += 1;
    else wrong.open.push(key);
    if (accepted > 0 && !processed.has(key)) wrong.lost.push(key);
    if (seqs.size > 1) wrong.twice.push(`${key} as ${[...seqs].join(' and ')}`);
  }
  counts.sent = sent.size;
  counts.processed = processed.size;
  const none = (name, which) => claim(name, which.length === 0, examples(which));
  return {
    counts,
    claims: {
      lost: none('every accepted message was processed', wrong.lost),
      open: none('every message that was begun was accepted', wrong.open),
      twice: none('no message was stored twice', wrong.twice),
      unsent: none('nothing was processed that was not sent there', wrong.unsent),
      damaged: none('every body arrived as it was sent', wrong.damaged),
      order: none('each sender was processed in the order of sending', wrong.late),
      acceptedOrder: none('each sender was processed in the order of acceptance', wrong.lateSeq),
    },
  };
}

export function claim(name, holds, detail = '') {
  return { name, holds, detail: holds ? '' : String(detail) };
}

function examples(which) {
  const more = which.length > examplesMax ? `, and ${which.length - examplesMax} others` : '';
  return which.slice(0, examplesMax).join('; ') + more;
}
