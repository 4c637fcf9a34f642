import { curveHarness } from '../support/networks.js';
import { busContract } from './bus.js';

busContract('zeromq over tcp with CURVE', curveHarness, true);
