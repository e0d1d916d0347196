// expect: timeout
export default () => { class A { static { for (;;); } } return { message: A.name }; };
