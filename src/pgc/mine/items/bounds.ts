/** `FOO_MAX`, `MIN_FOO`, `FOO_MAX_BYTES`, `maxFoo`: the word stands at an end, or a quantity follows it. */
const boundName =
  /^(?:MAX|MIN|MAXIMUM|MINIMUM)_|_(?:MAX|MIN|LIMIT|MAXIMUM|MINIMUM)$|(?:Max|Min|Limit)$|^(?:max|min)[A-Z]/;
const boundedQuantity =
  /_(?:MAX|MIN|MAXIMUM|MINIMUM)_(?:\w+_)?(?:SIZE|SZ|LEN|LENGTH|NUM|NR|COUNT|CNT|BYTES|WORDS|DWORDS|WIDTH|HEIGHT|DEPTH|RETRY|RETRIES|ENTRIES|LEVEL|LEVELS|ORDER|TIMEOUT|DELAY|RATE|FREQ|SPEED|PRIORITY|PAYLOAD|MTU|FRAME|VALUE|VAL|INDEX|IDX|ID|[A-Z]{2,}S)$/;
/** Words of names that are places, codes or parts of a register: their number bounds nothing. */
const otherThing =
  /(?:^|_)(?:REG|REGS|OFFSET|OFFS|OFST|OFFST|OFF|ADDR|ADDRESS|BASE|SHIFT|SHFT|SFT|LSB|MSB|POS|MASK|MSK|BIT|BITMASK|FLAG|FLAGS|FIELD|CMD|COMMAND|OPCODE|OP|EVENT|EVT|STATUS|STS|ERR|ERROR|FAIL|DEVCAP|QUERY|CTRL|CTL|CFG|CONFIG|DEFAULT|DEF|TH|THRESH|THRESHOLD|TYPE|TAG|UNIT|IE|EXCEED|EXCEEDED|SUPPORT|SUPPORTED)(?:_|$)/;
/** Registers and fields of generated headers. */
const generatedName = /^(?:mm|reg|ix|smn|cfg)[A-Z]|__/;
/** A quantity that hardware counts in hexadecimal, too. */
const countedName = /(?:SIZE|SZ|LEN|LENGTH|NUM|NR|COUNT|CNT|BYTES|WORDS)(?:_|$)/;

/** A longer name is generated. */
const nameCharsMax = 120;

/**
 * Whether a constant is a bound of something, by its name and by what follows the name in its definition: not
 * a register that holds a maximum, nor a code or a mask of one.
 */
export function isBound(name: string, value: string): boolean {
  if (name.length > nameCharsMax) return false;
  if (!boundName.test(name) && !boundedQuantity.test(name)) return false;
  // `MIN_750_MV` is a value, and no bound of one.
  if (otherThing.test(name) || generatedName.test(name) || /^M(?:AX|IN)_\d/.test(name))
    return false;
  // A function that takes the larger of two.
  if (value.startsWith('(')) return false;
  const plain = value
    .replace(/\/\*[^]*|\/\/[^]*/, '')
    .replace(/^\s*(?::\s*[\w<>]+\s*)?=/, '')
    .trim();
  if (!/\d|sizeof|<</.test(plain) || /["'{;&]/.test(plain)) return false;
  // Part of a register: a mask that is moved to its place.
  if (/0x[0-9a-f]+\w*\s*<<|[2-9]\w*\s*<<|GENMASK/i.test(plain)) return false;
  const hex = /^\(?\s*0x([0-9a-f]+)[ul]*\s*\)?$/i.exec(plain)?.[1];
  return hex === undefined || countedName.test(name) || (isAllOnes(hex) && !/MIN/.test(name));
}

/** 0x7f, 0xffff: the largest number of so many bits. */
function isAllOnes(hex: string): boolean {
  return /^0*[137]?f*$/i.test(hex) && !/^0*$/.test(hex);
}
