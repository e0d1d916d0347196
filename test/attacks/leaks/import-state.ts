// expect: ok
import { swap } from "./state-holder.ts";
export default (c: any) => ({ message: String(swap(c.payload.canary)) })
