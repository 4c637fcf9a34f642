import { stem } from '../../format/stem.js';

/**
 * What programmers shorten, in groups of words that stand for one another. General English of
 * programs: nothing here names a project. Any form of a word finds its group.
 */
const groups = `
  allocate allocation allocator alloc malloc kmalloc kzalloc
  free release kfree dealloc
  buffer buf
  device dev
  driver drv
  configuration configure config cfg conf
  message msg
  address addr
  initialise initialize initialisation initialization init
  context ctx
  register reg
  interrupt irq
  memory mem
  network networking net
  transmit transmission tx xmit
  receive reception rx recv
  directory dir
  descriptor desc
  packet pkt
  request req
  response resp rsp reply
  pointer ptr
  count cnt
  length len
  number num nr
  index idx
  source src
  destination dest dst
  command cmd
  error err
  parameter param
  argument arg
  previous prev
  current cur curr
  temporary tmp temp
  authenticate authentication auth
  callback cb
  function func fn
  library lib
  value val
  variable var
  synchronise synchronize synchronisation synchronization sync
  asynchronous async
  process proc
  schedule scheduler sched
  system sys
  filesystem fs
  hardware hw
  firmware fw
  software sw
  interface iface intf
  information info
  statistics stats stat
  maximum max
  minimum min
  position pos
  reference ref
  sequence seq
  string str
  timestamp ts
  version ver
  workqueue wq
  fragment frag
  operation op ops
  permission perm
  delete remove del
  mutex mtx
  database db
  document documentation doc
  environment env
  evaluate evaluation eval
  execute execution exec
  expression expr
  implementation impl
  attribute attr
  object obj
  option opt
  character char
  column col
  duplicate dup
  extension ext
  generate generator gen
  header hdr
  identifier identity id
  image img
  iterate iterator iter
  location loc
  manager mgr
  password pwd passwd
  read rd
  write wr
  return ret
  semaphore sem
  signal sig
  socket sock
  specification spec
  table tbl
  token tok
  transaction txn
  user usr
  vector vec
  window win
  clock clk
  checksum csum
  queue q
  utility util
`;

/**
 * What is said in several ways of any program: words of a question and names in code that mean much the
 * same. Irregular forms stand for themselves, because no rule of the stemmer leads back from them.
 */
const synonyms = `
  gone dead die died lost lose expired offline away
  detect notice find found discover
  corrupt damaged invalid checksum crc
  start begin began launch spawn
  stop end close shutdown exit
  plan schedule
  queue pending waiting
  check verify validate test
`;

/** Two words in a row that are written as one abbreviation. */
const phrases: readonly [first: string, second: string, abbreviations: readonly string[]][] = [
  ['socket', 'buffer', ['skb']],
  ['scatter', 'gather', ['sg', 'sgl']],
  ['scatter', 'list', ['sg', 'sgl']],
  ['read', 'copy', ['rcu']],
  ['file', 'system', ['fs']],
  ['file', 'descriptor', ['fd']],
  ['wait', 'queue', ['wq']],
  ['work', 'queue', ['wq']],
  ['virtual', 'memory', ['vm', 'vma']],
  ['address', 'space', ['mapping']],
  ['operating', 'system', ['os']],
  ['state', 'machine', ['fsm']],
  ['least', 'recently', ['lru']],
  ['page', 'table', ['pgtable', 'pte']],
];

/** A word of several groups stands for the words of each, which do not stand for one another. */
const byStem = new Map<string, readonly string[]>();
for (const line of `${groups.trim()}\n${synonyms.trim()}`.split('\n')) {
  const words = line.trim().split(/\s+/);
  for (const word of words) {
    const others = words.filter((each) => stem(each) !== stem(word));
    byStem.set(stem(word), [...new Set([...(byStem.get(stem(word)) ?? []), ...others])]);
  }
}

/** Other ways to write a word, in any form of it: `buffers` finds `buf`. */
export function alternativesOf(word: string): readonly string[] {
  return byStem.get(stem(word)) ?? [];
}

/** Abbreviations of two neighbouring words: `socket buffers` is `skb`. */
export function abbreviationsOf(first: string, second: string): readonly string[] {
  const [one, other] = [stem(first), stem(second)];
  return phrases.find((each) => stem(each[0]) === one && stem(each[1]) === other)?.[2] ?? [];
}
