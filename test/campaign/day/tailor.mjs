// An agent of the executor: changes the shop as it is told on standard input, and says so. What it does first is wrong; told what
// to correct, it does it right. Each of its runs leaves a line in the file that is its argument.
//
//   node tailor.mjs LEDGER < task
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const [ledger] = process.argv.slice(2);
const stepMs = 1_200;
const file = 'src/price.js';

const told = readFileSync(0, 'utf8');
const isCorrected = told.includes('To be corrected, from an earlier attempt:');
const task = process.env.SIGMA_TASK_ID;
const note = (what) => appendFileSync(ledger, `${task} ${process.env.SIGMA_ATTEMPT} ${what}\n`);

note('began');
await wait(stepMs);
const body = isCorrected
  ? `  const full = item.cents * quantity;
  return quantity < BULK_FROM ? full : Math.round(full * 0.9);`
  : `  const full = item.cents * quantity;
  return quantity <= BULK_FROM ? full : Math.round(full * 0.9);`;
const before = readFileSync(file, 'utf8');
writeFileSync(
  file,
  before.replace(
    /(priceOf\(item, quantity\) \{\n)[^]*?(\n\})/,
    (_, head, end) => head + body + end,
  ),
);
note('changed');
await wait(stepMs);
const lines = readFileSync(file, 'utf8').split('\n');
const at = lines.findIndex((line) => line.includes('function priceOf')) + 1;
const from = isCorrected ? 'From' : 'Above';
const result = `# Cheaper from ten on

## What was changed

\`BULK_FROM\` is 10. ${from} that quantity \`priceOf\` in \`${file}\` takes a tenth off, see \`${file}:${at}\`.

## Who gets the new price

- \`totalOf\` in \`src/order.js\` calls \`priceOf\`, see \`src/order.js:5\`.
- \`receiptOf\` in \`src/receipt.js\` calls \`totalOf\`, see \`src/receipt.js:5\`.
`;
const cite = (path, first, last, symbol) => ({
  ...{ overlay: 'O1', file_path: path, line_start: first, line_end: last, symbol },
  content: readFileSync(path, 'utf8')
    .split('\n')
    .slice(first - 1, last)
    .join('\n'),
});
const response = {
  ...{ task_id: task, status: 'completed', protocol_version: '2.0', result },
  files_modified: [file],
  grounding_evidence: {
    queries_executed: ['Who calls priceOf?'],
    overlays_consulted: ['O1'],
    citations: [cite(file, at, at + 3, 'priceOf'), cite('src/order.js', 4, 6, 'totalOf')],
  },
};
note('done');
process.stdout.write(`${JSON.stringify(response)}\n`);
