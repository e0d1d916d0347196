// expect: timeout memory
export default () => { const make = () => ({ then(resolve: (v: unknown) => void) { resolve(make()); } }); return make(); }
