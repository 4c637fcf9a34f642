// Prompts that say themselves what the model does with them; see `turnIn` of the model server.

/** `list`: answers of the model, one after the other. */
export const prompt = (content, list) => `${content}\n@turns ${JSON.stringify(list)}`;

export const calls = (...list) => ({
  calls: list.map(([name, its]) => ({ name, arguments: its })),
});
export const push = (name, text, more = {}) => ['push', { name, prompt: text, ...more }];
export const run = (its = {}) => ['run', its];
export const receive = (its = {}) => ['receive', { wait_seconds: 120, ...its }];
export const check = (its = {}) => ['check', its];
export const send = (to, message) => ['send', { to, message }];
/** What all tools answered. */
export const all = { text: '$all' };

/** Says this, after a while. */
export const says = (text, delayMs = 0) => prompt('Work.', [{ text, delayMs }]);

/** The seven workflows of queues; `tag` is in every result, so that none is taken for another's. `isCalm`: nobody is killed. */
export function workflows(tag, isCalm) {
  const result = (name) => `<${tag}.${name}>`;
  const worker = (name, delayMs = 0) => push(name, says(result(name), delayMs));
  const five = ['a', 'b', 'c', 'd', 'e'];
  const orchestrator = (...list) => prompt('Orchestrate.', [...list, all]);
  return {
    sequential: {
      text: orchestrator(
        calls(worker('a'), run()),
        calls(receive()),
        calls(worker('b'), run()),
        calls(receive()),
      ),
      results: ['a', 'b'].map(result),
      isOrdered: true,
    },
    parallel: {
      text: orchestrator(
        calls(worker('a', 3_000), worker('b', 1_500), worker('c'), run()),
        calls(receive(), receive(), receive()),
      ),
      results: ['c', 'b', 'a'].map(result),
      isOrdered: isCalm,
    },
    asynchronous: {
      text: orchestrator(calls(worker('a', 1_500), run(), check()), {
        ...calls(receive()),
        delayMs: 500,
      }),
      results: [result('a')],
      isEmptyFirst: isCalm,
    },
    batched: {
      text: orchestrator(
        calls(...five.map((name) => worker(name)), run({ count: 2 })),
        calls(receive(), receive(), receive()),
      ),
      results: ['a', 'b'].map(result),
      says: ['NOBODY_LEFT', '3 queued'],
    },
    limited: {
      text: orchestrator(
        calls(...five.map((name) => worker(name, 200)), run({ concurrency: 2 })),
        calls(...five.map(() => receive())),
      ),
      results: five.map(result),
      runningMax: 2,
    },
    'out of order': {
      text: orchestrator(
        calls(worker('b', 2_000), worker('c'), run()),
        calls(receive({ from: 'b' })),
        calls(receive({ from: 'c' })),
        calls(receive()),
      ),
      results: ['b', 'c'].map(result),
      isOrdered: true,
      says: ['NOBODY_LEFT'],
    },
    progress: {
      text: orchestrator(
        calls(
          push(
            'a',
            prompt('Work.', [
              calls(send('parent', result('first'))),
              calls(send('parent', result('second'))),
              { text: result('a') },
            ]),
          ),
          run(),
        ),
        calls(receive(), receive(), receive()),
      ),
      results: ['first', 'second', 'a'].map(result),
      isOrdered: true,
    },
    siblings: {
      text: orchestrator(
        calls(
          push('a', prompt('Work.', [calls(receive({ from: 'b' })), { text: `heard $last` }])),
          push(
            'b',
            prompt('Work.', [
              calls(send('a', result('word'))),
              { text: result('b'), delayMs: 500 },
            ]),
          ),
          run(),
        ),
        calls(receive(), receive()),
      ),
      results: ['word', 'b'].map(result),
    },
  };
}

/** Of one workflow, what is wrong with what came of it; empty: nothing. */
export function wrongWith({ results, isOrdered, isEmptyFirst, says: words = [] }, text) {
  const wrong = [];
  const places = results.map((each) => {
    const count = text.split(each).length - 1;
    if (count !== 1) wrong.push(`${each} is there ${count} times`);
    return text.indexOf(each);
  });
  if (isOrdered && places.some((place, at) => at > 0 && place < places[at - 1]))
    wrong.push(`not in order: ${places.join(', ')}`);
  if (isEmptyFirst && !/INBOX_EMPTY|[Nn]othing/.test(text.slice(0, places[0])))
    wrong.push('the first check was not empty');
  for (const word of words) if (!text.includes(word)) wrong.push(`no word of ${word}`);
  return wrong;
}
