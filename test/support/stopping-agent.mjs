// An agent of somebody else, of which nothing is known but what it prints. `place` is where it leaves its effects.
import { appendFileSync } from 'node:fs';
import path from 'node:path';

const [place = ''] = process.argv.slice(2);
let prompt = '';
for await (const chunk of process.stdin) prompt += chunk;
const task = process.env.SIGMA_TASK_ID ?? '';
appendFileSync(path.join(place, `${task}.prompts`), `${JSON.stringify(prompt)}\n`);

const mode = /^Task:\n(\w+)/m.exec(prompt)?.[1] ?? '';
const block = [
  'GATE_DETECTED: true',
  'Signal: HumanCommunication',
  'Evidence: it mails all customers',
  'Action: send the newsletter',
  'Tasks_Completed: draft',
  'Tasks_Remaining: send',
].join('\n');
const isApproved = prompt.includes('"send the newsletter"');

switch (mode) {
  case 'COMPLETE':
    if (isApproved) appendFileSync(path.join(place, `${task}.effect`), 'sent\n');
    console.log(isApproved ? 'The newsletter is sent.' : `The draft is ready.\n\n${block}`);
    break;
  case 'PARTIAL':
    console.log(block.split('\n').slice(0, 2).join('\n'));
    break;
  case 'MALFORMED':
    console.log(block.replace('HumanCommunication', 'Danger'));
    break;
  case 'FLOOD':
    console.log(`${'x'.repeat(600_000)}\n${block}`);
    break;
  case 'STRUCTURED':
    console.log(
      JSON.stringify({ task_id: task, status: 'blocked', reason: 'GATE_DETECTED', result: block }),
    );
    break;
  case 'FAILING':
    console.log(block);
    process.exitCode = 3;
    break;
  case 'ECHO':
    console.log(`${prompt}\nNothing of it is risky.`);
    break;
  default:
    console.log('Done.');
}
