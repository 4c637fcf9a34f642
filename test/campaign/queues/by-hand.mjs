// The seven workflows of queues without a language model: the parent is an agent on the bus, what it pushes is done by
// executors from the PGC alone, or by a scripted worker where something is to be sent, heard or waited for.

const question = (number) => `What does part_${number}_start call?`;
/** Not by the scripted one. */
const executor = (number) => ({ to: `executor-${number % 2}` });
/** What fails because somebody was killed is tried again. */
const patiently = { supervised: true };
/** Says that no model is configured, and begins with that part. */
const answers = (number) =>
  new RegExp(`no language model[^\`]*\`part_${number}_start\` \\(function`, 'i');

/** `isCalm`: nobody is killed. */
export function workflowsByHand(tag, worker, isCalm) {
  const scripted = { to: worker };
  const says = (its) => JSON.stringify({ text: `<${tag}>`, ...its });
  const word = (name) => `<${tag}.${name}>`;
  const five = [1, 2, 3, 4, 5];
  const pushFive = (parent) =>
    inOrder(five, (each) => parent.push(`q${each}`, question(each), executor(each)));
  const receiveAll = (parent, count) =>
    inOrder(Array.from({ length: count }), () => parent.receive());
  return {
    async sequential(parent) {
      const heard = [];
      for (const each of [1, 2]) {
        await parent.push(`q${each}`, question(each), executor(each));
        await parent.run(patiently);
        heard.push(await parent.receive());
      }
      return inTurn(heard, [answers(1), answers(2)]);
    },
    async parallel(parent) {
      for (const [name, delayMs] of [
        ['a', 1_500],
        ['b', 800],
        ['c', 0],
      ])
        await parent.push(name, says({ delayMs, text: word(name) }), scripted);
      await parent.run();
      const asDone = isCalm ? inTurn : anyOrder;
      return asDone(await receiveAll(parent, 3), [word('c'), word('b'), word('a')]);
    },
    async asynchronous(parent) {
      await parent.push('a', says({ delayMs: 1_500, text: word('a') }), scripted);
      await parent.run();
      const first = await parent.receive({ waitMs: 0 });
      const later = await parent.receive();
      if (!isCalm) return anyOrder([first, later], [word('a')]);
      return inTurn([first, later], [/^INBOX_EMPTY/, word('a')]);
    },
    async batched(parent) {
      await pushFive(parent);
      await parent.run({ count: 2, ...patiently });
      const heard = await receiveAll(parent, 3);
      const two = anyOrder(heard.slice(0, 2), [answers(1), answers(2)]);
      return [...two, ...inTurn(heard.slice(2), [/^NOBODY_LEFT.*3 queued/])];
    },
    async limited(parent) {
      for (const each of five)
        await parent.push(`w${each}`, says({ delayMs: 150, text: word(each) }), scripted);
      await parent.run({ concurrency: 2 });
      const heard = await receiveAll(parent, 5);
      const most = mostAtOnce((await parent.queue()).rows);
      return [
        ...anyOrder(heard, five.map(word)),
        ...(most > 2 ? [`${most} were running at once`] : []),
      ];
    },
    async 'out of order'(parent) {
      await parent.push('b', says({ delayMs: 1_000, text: word('b') }), scripted);
      await parent.push('c', says({ text: word('c') }), scripted);
      await parent.run();
      const heard = [await parent.receive({ from: 'b' }), await parent.receive({ from: 'c' })];
      heard.push(await parent.receive({ waitMs: 0 }));
      return inTurn(heard, [word('b'), word('c'), /^(INBOX_EMPTY|NOBODY_LEFT)/]);
    },
    async progress(parent) {
      const send = [
        ['parent', word('first')],
        ['parent', word('second')],
      ];
      await parent.push('a', says({ send, text: word('a') }), scripted);
      await parent.run();
      return inTurn(await receiveAll(parent, 3), [word('first'), word('second'), word('a')]);
    },
    async siblings(parent) {
      const send = [['a', word('word')]];
      await parent.push('a', says({ hear: 'b', text: `heard $heard ${word('a')}` }), scripted);
      await parent.push('b', says({ send, delayMs: 300, text: word('b') }), scripted);
      await parent.run();
      const heard = await receiveAll(parent, 2);
      return anyOrder(heard, [`heard ${word('word')} ${word('a')}`, word('b')]);
    },
  };
}

async function inOrder(list, work) {
  const done = [];
  for (const each of list) done.push(await work(each));
  return done;
}

const isIn = (text, wanted) =>
  wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted);

function inTurn(heard, wanted) {
  return wanted.flatMap((each, at) =>
    isIn(heard[at] ?? '', each) ? [] : [`${at + 1}: ${each} is not in ${heard[at]}`],
  );
}

function anyOrder(heard, wanted) {
  return wanted.flatMap((each) => {
    const count = heard.filter((text) => isIn(text, each)).length;
    return count === 1 ? [] : [`${each} was heard ${count} times in ${heard.join(' | ')}`];
  });
}

/** Of what is told of a queue: how many of its tasks were running at the same moment. */
export function mostAtOnce(rows) {
  const events = rows.flatMap(({ started_ms, finished_ms }) => [
    [started_ms, 1],
    [finished_ms, -1],
  ]);
  // What ended in the millisecond in which another began was over.
  events.sort(([a, up], [b, other]) => a - b || up - other);
  let now = 0;
  return Math.max(0, ...events.map(([, change]) => (now += change)));
}
