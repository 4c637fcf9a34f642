import { curveHarness } from '../support/networks.js';
import { mailContract } from './mail.js';

mailContract('zeromq over tcp with CURVE', curveHarness);
