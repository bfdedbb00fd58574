class Base; class L : Base; class R : Base; 
def X : L, R;
