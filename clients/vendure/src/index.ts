export { tillgateHandler } from "./handler";
export { TillgatePlugin } from "./plugin";
export { TillgateService } from "./service";
