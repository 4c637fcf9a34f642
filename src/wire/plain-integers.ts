import $protobuf from 'protobufjs/minimal.js';

// Integers of 64 bits are plain numbers here: sizes and times stay far below 2^53, and Long objects would
// leak into every JSON document. Imported before the generated code, which takes its defaults from this.
$protobuf.util.Long = undefined as never;
$protobuf.configure();
