def X; /* outer /* inner */
def Y;
