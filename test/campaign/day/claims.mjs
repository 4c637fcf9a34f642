import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { claim } from '../claims.mjs';
import { person, plan } from './day.mjs';

/** In this order the story tells them; each is a pattern on one line. */
const stations = {
  prompt: /queued by operator: Say what is to be done/,
  queue: /queued callers/,
  attend: /operator wants: Bring the discount/,
  gate: /stops: .*rm -rf build\/old; a person is asked/,
  judgement: /Ann approved it/,
  delegate: /change .*workshop works on it/,
  validate: /the manager checked the result: 2 of 2 citations hold, 1 of 1 criteria met/,
  'first critique': /the critic gave 0\.8\d, and 0\.92 is needed \(iteration 2\)/,
  revision: /Ann had it revised: Ten counts as bulk, too/,
  'second critique': /the critic gave 0\.9\d, and 0\.92 is needed \(iteration 3\)/,
  delivery: /change .*done, changed src\/price\.js; operator gets the result/,
  refusal: /Ann refused it/,
  end: /release .*over: 2 of 3 tasks are done; publish is halted/,
};

export function claimsOf(day) {
  const { views, gates, inbox, history, answer, sessions, root, story } = day;
  const change = views.find(({ id }) => id === day.taskOf('change'));
  const states = Object.fromEntries(sessions.trace.map(({ entry, outcome }) => [entry, outcome]));
  const price = readFileSync(path.join(root, 'src/price.js'), 'utf8');
  const done = day.effects.filter((each) => each.endsWith('done')).length;
  const began = day.effects.filter((each) => each.endsWith('began')).length;
  const again = (day.answers ?? []).filter((each) => each === '--reassign').length;
  const scores = change.iterations.map(({ score }) => score);
  const from = inbox.map(({ body }) => body.from);
  const by = gates.map(({ task, judgement, judged_by }) => [task, judgement, judged_by].join(' '));
  const missing = missingIn(story);
  const tasks = views.filter(({ task }) => task.name !== '');
  return [
    claim('each process was killed once', day.kills.length === 7, day.killed()),
    claim(
      'the prompt was answered with the plan',
      answer?.body.result === plan,
      JSON.stringify(answer),
    ),
    claim(
      'what was pushed was done once each, and what comes later waits',
      tasks
        .map(({ task, state }) => `${task.name} ${state}`)
        .sort()
        .join(', ') === 'bulk completed, callers completed, day completed, tomorrow queued',
      tasks.map(({ task, state }) => `${task.name} ${state}`).join(', '),
    ),
    claim(
      'what was approved and reviewed is done, what was refused is not',
      JSON.stringify(states) === '{"tidy":"completed","change":"completed","publish":"halted"}',
      JSON.stringify(states),
    ),
    claim(
      'the file holds what the review accepted',
      price.includes('quantity < BULK_FROM ? full : Math.round(full * 0.9)'),
      price,
    ),
    claim(
      'the old build is gone, nothing else is, and nothing was published',
      !existsSync(path.join(root, 'build/old')) &&
        existsSync(path.join(root, 'NOTES.md')) &&
        !day.pushed,
      '',
    ),
    claim(
      'the agent worked twice to the end, and more often only where a person said so',
      done >= 2 && began <= 2 + again,
      `${day.effects.join(', ')}; ${again} times again`,
    ),
    claim(
      'two critiques are kept, the first below the gate and the second above it',
      scores.length === 2 &&
        scores[0] < 0.92 &&
        scores[1] >= 0.92 &&
        history.tracking.iterations.length === 2,
      `${scores} ${JSON.stringify(history).slice(0, 600)}`,
    ),
    claim(
      'the gates bear the name of the person, each judged once',
      gates.length === 2 && gates.every(({ judged_by }) => judged_by === person),
      by.join('; '),
    ),
    claim(
      'each result was delivered once to who asked',
      ['tidy', 'change', 'publish'].every(
        (each) => from.filter((id) => id === day.taskOf(each)).length === 1,
      ) && inbox.length === 3,
      from.join(', '),
    ),
    claim(
      'what was refused is told as no success',
      inbox.some(({ body }) => body.from === day.taskOf('publish') && body.success === false),
      JSON.stringify(inbox.map(({ body }) => [body.from, body.success])),
    ),
    claim('nothing was given up', day.dead.length === 0, JSON.stringify(day.dead)),
    claim('the story tells each station, in order', missing === '', missing),
    claim(
      'the story tells that the manager was gone',
      story.includes('the manager was started again, and goes on'),
      '',
    ),
  ];
}

/** The first station that the story does not tell after the one before it. */
function missingIn(story) {
  const lines = story.split('\n');
  let at = -1;
  for (const [name, pattern] of Object.entries(stations)) {
    const next = lines.findIndex((line, number) => number > at && pattern.test(line));
    if (next < 0) return `${name} (${pattern}) is not told after line ${at + 1}`;
    at = next;
  }
  return '';
}
