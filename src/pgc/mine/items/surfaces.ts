import type { CallDraft } from '../draft.js';
import type { ItemSource } from './item.js';

/** A place where data from outside enters the program. */
export interface Surface {
  rule: string;
  /** A substring of every text with a match: looking for it first is ten times cheaper. */
  mark: string;
  pattern: RegExp;
  text: (name: string, more: string) => string;
}

const cSurfaces: readonly Surface[] = [
  {
    rule: 'surface-syscall',
    mark: 'SYSCALL_DEFINE',
    pattern: /^(?:COMPAT_)?SYSCALL_DEFINE\d\s*\(\s*(\w+)/gm,
    text: (name) => `system call ${name}`,
  },
  {
    rule: 'surface-netlink',
    mark: 'rtnl_register',
    pattern: /\brtnl_register(?:_module)?\s*\([^;()]{0,300}?\b(RTM_\w+)/g,
    text: (name) => `netlink message ${name}`,
  },
  {
    rule: 'surface-file-write',
    mark: '_ATTRIBUTE',
    pattern: /\bDEFINE_(?:SIMPLE|DEBUGFS)_ATTRIBUTE(?:_SIGNED)?\s*\(\s*\w+,\s*\w+,\s*(\w+)/g,
    text: (name) => `write handler ${name}`,
  },
  {
    rule: 'surface-file-write',
    mark: '_ATTR_',
    pattern: /^(?:static\s+)?(?:DEVICE|DRIVER|BUS|CLASS)_ATTR_(?:RW|WO)\s*\(\s*(\w+)/gm,
    text: (name) => `write handler ${name}_store`,
  },
  {
    rule: 'surface-file-write',
    mark: 'DEVICE_ATTR',
    pattern: /^(?:static\s+)?DEVICE_ATTR\s*\(\s*\w+,[^,;]{0,300},\s*\w+,\s*(\w+)\s*\)/gm,
    text: (name) => `write handler ${name}`,
  },
  {
    // Only parameters that can be written while the module runs; the others are set by the administrator who loads it.
    rule: 'surface-parameter',
    mark: 'module_param',
    pattern:
      /^module_param\w*\s{0,50}\(\s{0,50}(\w+)[^;]{0,200},\s{0,50}(?:0[0-7]{0,8}[2367][0-7]{0,8}\s{0,50}|[^,;]{0,100}\bS_I(?:W|RWX)[^,;]{0,100})\)\s{0,50};/gm,
    text: (name) => `module parameter ${name}, which can be written at run time`,
  },
  {
    rule: 'surface-boot',
    mark: '("',
    pattern: /^(?:__setup|early_param)\s*\(\s*"([^"\n]{1,200})"/gm,
    text: (name) => `boot parameter ${name}`,
  },
  {
    rule: 'surface-entry',
    mark: 'main',
    pattern: /^(?:int\s+|static\s+int\s+)?(main)\s*\(\s*int\b/gm,
    text: () => 'entry point of a program',
  },
];

const esSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: '/',
    pattern:
      /\b(?:app|router|server|api|fastify)\s*\.\s*(get|post|put|patch|delete|all|use)\s*\(\s*['"`](\/[^'"`\n]{0,300})/g,
    text: (verb, path) => `HTTP route ${verb.toUpperCase()} ${path}`,
  },
  {
    rule: 'surface-http',
    mark: 'createServer',
    pattern: /\b(createServer)\s*\(/g,
    text: () => 'server for the network',
  },
  {
    rule: 'surface-cli',
    mark: '.command',
    pattern: /\.command\s*\(\s*['"`]([\w-]+)/g,
    text: (name) => `command ${name}`,
  },
  {
    rule: 'surface-arguments',
    mark: 'process.argv',
    pattern: /\b(process\.argv)\b/g,
    text: () => 'arguments of the command line',
  },
];

const pythonSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: '@',
    pattern: /^[ \t]*@\w+\.(route|get|post|put|patch|delete)\s*\(\s*['"](\/[^'"\n]{0,300})/gm,
    text: (verb, path) => `HTTP route ${verb === 'route' ? '' : `${verb.toUpperCase()} `}${path}`,
  },
  {
    rule: 'surface-cli',
    mark: 'add_argument',
    pattern: /\.add_argument\s*\(\s*['"]([\w-]+)/g,
    text: (name) => `argument ${name}`,
  },
  {
    rule: 'surface-entry',
    mark: '__name__',
    pattern: /^if\s+(__name__)\s*==/gm,
    text: () => 'entry point of a program',
  },
];

const goSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: '/',
    pattern:
      /\.(HandleFunc|Handle|GET|POST|PUT|DELETE|PATCH)\s*\(\s*"([^"\n/]{0,300}\/[^"\n]{0,300})"/g,
    text: (verb, path) => `HTTP route ${/^Handle/.test(verb) ? '' : `${verb} `}${path}`,
  },
  {
    rule: 'surface-cli',
    mark: 'flag.',
    pattern: /\bflag\.\w+\s*\(\s*(?:&\w+,\s*)?"([\w-]+)"/g,
    text: (name) => `argument ${name}`,
  },
  {
    rule: 'surface-entry',
    mark: 'func main',
    pattern: /^func (main)\(\)/gm,
    text: () => 'entry point of a program',
  },
];

const javaSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: 'Mapping',
    pattern:
      /@(Get|Post|Put|Patch|Delete|Request)Mapping\s*\(\s*(?:value\s*=\s*)?"([^"\n]{0,300})"/g,
    text: (verb, path) => `HTTP route ${verb === 'Request' ? '' : `${verb.toUpperCase()} `}${path}`,
  },
  {
    rule: 'surface-entry',
    mark: 'main',
    pattern: /\bpublic\s+static\s+void\s+(main)\s*\(/g,
    text: () => 'entry point of a program',
  },
];

const rustSurfaces: readonly Surface[] = [
  {
    rule: 'surface-entry',
    mark: 'fn main',
    pattern: /^fn (main)\(\)/gm,
    text: () => 'entry point of a program',
  },
  {
    rule: 'surface-http',
    mark: '#[',
    pattern: /#\[(get|post|put|patch|delete)\s*\(\s*"([^"\n]{0,300})"/g,
    text: (verb, path) => `HTTP route ${verb.toUpperCase()} ${path}`,
  },
  {
    rule: 'unsafe-block',
    mark: 'unsafe',
    pattern: /\b(unsafe)\s*\{/g,
    text: () => 'unsafe block',
  },
  {
    rule: 'surface-foreign',
    mark: 'extern',
    pattern: /\bextern\s+"C"\s+fn\s+(\w+)/g,
    text: (name) => `called from other languages: ${name}`,
  },
];

/** By language. */
export const surfacesOf: Partial<Record<ItemSource['language'], readonly Surface[]>> = {
  c: cSurfaces,
  cpp: cSurfaces,
  javascript: esSurfaces,
  typescript: esSurfaces,
  tsx: esSurfaces,
  python: pythonSurfaces,
  go: goSurfaces,
  java: javaSurfaces,
  rust: rustSurfaces,
};

/** Functions in structures that others call when a user asks: `structure.field`, by what comes in there. */
const slotSurfaces: readonly { rule: string; slot: RegExp; what: string }[] = [
  {
    rule: 'surface-ioctl',
    slot: /\.(?:unlocked_ioctl|compat_ioctl|ioctl|ndo_\w*ioctl|ndo_siocdevprivate|fb_(?:compat_)?ioctl)$/,
    what: 'ioctl handler',
  },
  {
    rule: 'surface-netlink',
    slot: /\.(?:doit|dumpit)$|^rtnl_link_ops\.(?:newlink|changelink|dellink)$/,
    what: 'netlink handler',
  },
  {
    rule: 'surface-file-write',
    slot: /^(?:\w*file_operations|proc_ops|cftype|rftype|kernfs_ops|sysfs_ops|\w*_attribute|hwmon_ops|tty_operations|usb_serial_driver)\.(?:write|write_iter|write_[us]64|proc_write|store)$/,
    what: 'write handler',
  },
  {
    rule: 'surface-sockopt',
    slot: /^(?:proto|proto_ops|pppox_proto|inet_connection_sock_af_ops|af_alg_type)\.(?:setsockopt|getsockopt|sendmsg|bind|connect)$|^nf_sockopt_ops\.[gs]et$/,
    what: 'socket operation',
  },
];
export const slotRules: readonly string[] = slotSurfaces.map(({ rule }) => rule);
/** Handlers that refuse every request. */
const refuses = /^sock_no_/;

/** The surface that a function in a structure serves; undefined if it serves none. */
export function slotSurface({
  kind,
  callee,
  receiver,
}: CallDraft): { rule: string; text: string } | undefined {
  if (kind !== 'slot' || refuses.test(callee)) return undefined;
  const found = slotSurfaces.find(({ slot }) => slot.test(receiver));
  return found === undefined ? undefined : { rule: found.rule, text: `${found.what} ${callee}` };
}
