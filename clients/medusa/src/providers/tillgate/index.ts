import { ModuleProvider, Modules } from "@medusajs/framework/utils";
import { TillgateProvider } from "./service";

export default ModuleProvider(Modules.PAYMENT, { services: [TillgateProvider] });
