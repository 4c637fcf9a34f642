// Word vectors: a text is the weighted sum of the vectors of its words, and lies near the function that it is about
// and far from the others of the same code base. Symmetric InfoNCE (A. van den Oord and others, 2018) with the
// functions of one repository as negatives, Adam on the rows that a step touches.

const queriesPerStep = 96;
const strangersPerStep = 160;
/** Words of one function and of one text that a step reads. */
const functionWordsMax = 80;
const textWordsMax = 40;
/** Share of the words of a text that are left out, so that no single word must carry it. */
const droppedShare = 0.15;
const vectorRate = 3e-3;
const weightRate = 1e-2;
const warmUpSteps = 50;
const firstSharpness = 1 / 0.06;
/** What it counts to find the text of a function, beside the function of a text. */
const textShare = 0.5;
/** Weaker pulls move nothing. */
const pullMin = 1e-6;

/** Numbers in [0, 1) that depend on nothing but the seed. */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** `count` of a list, without repetition. */
function sample(list, count, random) {
  if (list.length <= count) return [...list];
  const chosen = new Set();
  while (chosen.size < count) chosen.add(Math.floor(random() * list.length));
  return [...chosen].map((at) => list[at]);
}

class Adam {
  #parameters;
  #width;
  #mean;
  #square;
  #rate;
  #time = 0;

  constructor(parameters, width, rate) {
    this.#parameters = parameters;
    this.#width = width;
    this.#rate = rate;
    this.#mean = new Float32Array(parameters.length);
    this.#square = new Float32Array(parameters.length);
  }

  /** `gradients`: the rows `rows`, one after another. */
  step(rows, gradients, pace) {
    this.#time += 1;
    const rate = (this.#rate * pace * Math.sqrt(1 - 0.999 ** this.#time)) / (1 - 0.9 ** this.#time);
    const parameters = this.#parameters;
    const means = this.#mean;
    const squares = this.#square;
    const width = this.#width;
    for (let slot = 0; slot < rows.length; slot += 1)
      for (let i = 0, at = rows[slot] * width; i < width; i += 1, at += 1) {
        const g = gradients[slot * width + i];
        means[at] = 0.9 * means[at] + 0.1 * g;
        squares[at] = 0.999 * squares[at] + 0.001 * g * g;
        parameters[at] -= (rate * means[at]) / (Math.sqrt(squares[at]) + 1e-8);
      }
  }
}

/**
 * `repositories`: `{ functions, texts }`; a function is `{ told, untold }` (its words with and without its comments, each
 * `{ words, counts }`), a text `{ words, about: [{ function, share }], isComment }`. `rarity`: of each word, as its first weight.
 */
export function learnVectors(repositories, rarity, { dims, steps, seed, report }) {
  const random = randomFrom(seed);
  const vocabulary = rarity.length;
  const vectors = Float32Array.from({ length: vocabulary * dims }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return (radius * Math.cos(2 * Math.PI * random())) / Math.sqrt(dims);
  });
  const first = Float32Array.from(rarity, (each) => Math.log(each + 0.1));
  const inFunction = first.slice();
  const inText = first.slice();
  const sharpness = Float32Array.of(Math.log(firstSharpness));
  const adams = {
    vectors: new Adam(vectors, dims, vectorRate),
    inFunction: new Adam(inFunction, 1, weightRate),
    inText: new Adam(inText, 1, weightRate),
    sharpness: new Adam(sharpness, 1, weightRate),
  };
  const draws = repositories.map(({ texts }) => texts.length ** 0.75);
  const total = draws.reduce((sum, each) => sum + each, 0);
  let loss = 0;
  for (let step = 0; step < steps; step += 1) {
    const pace = Math.min(1, (step + 1) / warmUpSteps) * Math.max(0.05, 1 - step / steps);
    let at = random() * total;
    let chosen = 0;
    while (chosen < draws.length - 1 && (at -= draws[chosen]) > 0) chosen += 1;
    const batch = batchOf(repositories[chosen], random);
    const texts = embedded(batch.texts, vectors, inText, dims);
    const functions = embedded(batch.functions, vectors, inFunction, dims);
    const scale = Math.exp(sharpness[0]);
    const { gradient, sharpnessGradient, value } = contrast(texts, functions, batch.isOther, scale);
    const [toTexts, toFunctions] = pulls(texts, functions, gradient, scale);
    const touched = new Touched(dims);
    spread(batch.texts, texts, toTexts, vectors, inText, touched, 'text');
    spread(batch.functions, functions, toFunctions, vectors, inFunction, touched, 'function');
    adams.vectors.step(touched.rows, touched.vectors, pace);
    adams.inText.step(touched.rows, touched.text, pace);
    adams.inFunction.step(touched.rows, touched.function, pace);
    adams.sharpness.step([0], [sharpnessGradient], 1);
    loss += value;
    if (step % 250 === 249) {
      report(step + 1, loss / 250);
      loss = 0;
    }
  }
  return { vectors, inFunction: inFunction.map(Math.exp), inText: inText.map(Math.exp) };
}

/** Texts with the function of each first, and other functions of the same repository. */
function batchOf({ functions, texts }, random) {
  const chosen = sample(texts, queriesPerStep, random);
  const own = chosen.map(({ about }) => {
    let at = random() * about.reduce((sum, { share }) => sum + share, 0);
    return (about.find(({ share }) => (at -= share) <= 0) ?? about[0]).function;
  });
  const strangers = sample([...functions.keys()], strangersPerStep, random);
  const commentShare = chosen.filter(({ isComment }) => isComment).length / chosen.length;
  const numbers = [...own, ...strangers];
  const bags = numbers.map((number, at) => {
    const isUntold = at < chosen.length ? chosen[at].isComment : random() < commentShare;
    const { words, counts } = functions[number][isUntold ? 'untold' : 'told'];
    if (words.length <= functionWordsMax)
      return { words, weights: Float32Array.from(counts, Math.log1p) };
    const read = sample([...words.keys()], functionWordsMax, random);
    return { words: read.map((i) => words[i]), weights: read.map((i) => Math.log1p(counts[i])) };
  });
  const textBags = chosen.map(({ words }) => {
    const kept = words.filter(() => random() >= droppedShare);
    const read = sample(kept.length > 0 ? kept : words, textWordsMax, random);
    return { words: read, weights: read.map(() => 1) };
  });
  const mine = chosen.map(({ about }) => new Set(about.map((each) => each.function)));
  return {
    texts: textBags,
    functions: bags,
    isOther: (i, j) => i === j || !mine[i].has(numbers[j]),
  };
}

/** Of each bag its vector of length 1, one after another, and how long it was. */
function embedded(bags, vectors, importance, dims) {
  const units = new Float32Array(bags.length * dims);
  const lengths = new Float32Array(bags.length);
  for (const [i, { words, weights }] of bags.entries()) {
    const from = i * dims;
    for (let w = 0; w < words.length; w += 1) {
      const weight = weights[w] * Math.exp(importance[words[w]]);
      for (let k = 0, at = words[w] * dims; k < dims; k += 1)
        units[from + k] += weight * vectors[at + k];
    }
    lengths[i] = Math.sqrt(dot(units, from, units, from, dims)) || 1;
    for (let k = from; k < from + dims; k += 1) units[k] /= lengths[i];
  }
  return { count: bags.length, dims, units, lengths };
}

function dot(one, from, other, start, dims) {
  let sum = 0;
  for (let k = 0; k < dims; k += 1) sum += one[from + k] * other[start + k];
  return sum;
}

/** The loss of the scores of all texts against all functions, and its gradient; text `i` is about function `i`. */
function contrast(texts, functions, isOther, scale) {
  const { count: m, dims } = texts;
  const n = functions.count;
  const scores = new Float32Array(m * n);
  for (let i = 0; i < m; i += 1)
    for (let j = 0; j < n; j += 1)
      scores[i * n + j] = isOther(i, j)
        ? scale * dot(texts.units, i * dims, functions.units, j * dims, dims)
        : -Infinity;
  const gradient = new Float32Array(m * n);
  let value = 0;
  /** The right one of `length` cells, each `step` behind the one before. */
  const choose = (from, step, length, right, weight) => {
    let best = -Infinity;
    for (let t = 0; t < length; t += 1) best = Math.max(best, scores[from + t * step]);
    let all = 0;
    for (let t = 0; t < length; t += 1) all += Math.exp(scores[from + t * step] - best);
    for (let t = 0; t < length; t += 1)
      gradient[from + t * step] += (weight * Math.exp(scores[from + t * step] - best)) / all / m;
    gradient[right] -= weight / m;
    value += (weight * (Math.log(all) + best - scores[right])) / m;
  };
  for (let i = 0; i < m; i += 1) {
    choose(i * n, 1, n, i * n + i, 1);
    choose(i, n, m, i * n + i, textShare);
  }
  let sharpnessGradient = 0;
  for (let cell = 0; cell < gradient.length; cell += 1)
    if (gradient[cell] !== 0) sharpnessGradient += gradient[cell] * scores[cell];
  return { gradient, sharpnessGradient, value };
}

/** What the scores ask of the vectors of the texts and of the functions. */
function pulls(texts, functions, gradient, scale) {
  const { dims } = texts;
  const toTexts = new Float32Array(texts.units.length);
  const toFunctions = new Float32Array(functions.units.length);
  for (let i = 0; i < texts.count; i += 1)
    for (let j = 0; j < functions.count; j += 1) {
      const g = scale * gradient[i * functions.count + j];
      if (Math.abs(g) < pullMin) continue;
      for (let k = 0, t = i * dims, f = j * dims; k < dims; k += 1) {
        toTexts[t + k] += g * functions.units[f + k];
        toFunctions[f + k] += g * texts.units[t + k];
      }
    }
  return [toTexts, toFunctions];
}

/** Gradients of the rows that a step touches. */
class Touched {
  rows = [];
  #slots = new Map();
  #dims;
  vectors = new Float32Array(1 << 20);
  text = new Float32Array(1 << 14);
  function = new Float32Array(1 << 14);

  constructor(dims) {
    this.#dims = dims;
  }

  slotOf(row) {
    let slot = this.#slots.get(row);
    if (slot === undefined) {
      slot = this.rows.push(row) - 1;
      this.#slots.set(row, slot);
      if ((slot + 1) * this.#dims > this.vectors.length) this.vectors = grown(this.vectors);
      if (slot >= this.text.length) {
        this.text = grown(this.text);
        this.function = grown(this.function);
      }
    }
    return slot;
  }
}

function grown(list) {
  const longer = new Float32Array(list.length * 2);
  longer.set(list);
  return longer;
}

/** From the gradients of vectors of length 1 to those of the words under them. */
function spread(bags, { dims, units, lengths }, towards, vectors, importance, touched, kind) {
  const sum = new Float32Array(dims);
  for (const [i, { words, weights }] of bags.entries()) {
    const from = i * dims;
    const along = dot(units, from, towards, from, dims);
    for (let k = 0; k < dims; k += 1)
      sum[k] = (towards[from + k] - units[from + k] * along) / lengths[i];
    for (let w = 0; w < words.length; w += 1) {
      const weight = weights[w] * Math.exp(importance[words[w]]);
      const slot = touched.slotOf(words[w]);
      const gradients = touched.vectors;
      for (let k = 0, to = slot * dims; k < dims; k += 1) gradients[to + k] += weight * sum[k];
      touched[kind][slot] += weight * dot(vectors, words[w] * dims, sum, 0, dims);
    }
  }
}
